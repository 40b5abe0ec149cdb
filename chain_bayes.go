package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/records"
)

// NaiveBayes begins a chain for tables with few rows or very many columns. It releases the mean of
// each column in each class, and draws columns independently given the class (see
// baselines.NaiveBayes).
func NaiveBayes(schema records.Schema, budget accountant.Budget) NaiveBayesChain {
	return NaiveBayesChain{config: baselines.NaiveBayes{Schema: schema, Budget: budget}}
}

// NaiveBayesChain describes a run of baselines.NaiveBayes.
type NaiveBayesChain struct{ config baselines.NaiveBayes }

// Nominal sets the approximate number of records, which must be public. The plan's text then states
// the expected noise.
func (c NaiveBayesChain) Nominal(records int) NaiveBayesChain {
	c.config.Nominal = records
	return c
}

// Plan validates the chain, calibrates the noise and prices both stages. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake.
func (c NaiveBayesChain) Plan() (*baselines.Plan, error) { return c.config.Plan() }

// Fit calls Plan and then the plan's Fit.
func (c NaiveBayesChain) Fit(ctx context.Context, data records.Data,
	opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
