package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// MERF begins a chain for labelled synthetic records from one private release of mean features
// (Harder et al. 2021; package merf says where this differs from the paper).
//
// The schema is public: bounds and levels in it are declared, never read from the records. Classes,
// if it has any, are modelled: OfClass draws records of one. The chain is a plain value; a step
// only records, so chains can be forked freely, the order of steps means nothing, and everything is
// judged at once by Plan.
func MERF(schema records.Schema, budget accountant.Budget) MERFChain {
	return MERFChain{schema: schema, budget: budget}
}

// MERFChain is a DP-MERF run being described.
type MERFChain struct {
	schema       records.Schema
	budget       accountant.Budget
	nominal      int
	config       merf.Config
	generator    *merf.GeneratorConfig
	architecture models.GeneratorArchitecture
	seeds
}

// Nominal declares about how many records there are, a public number, from which everything that is
// not set follows: see package merf. Under replace-one it is the number of records.
func (c MERFChain) Nominal(records int) MERFChain {
	c.nominal = records
	return c
}

// Embed sets what is released about the records. Schema and budget are the chain's.
func (c MERFChain) Embed(e merf.Config) MERFChain {
	c.config = e
	return c
}

// Generator sets the architecture that is trained against the release, for example models.MLP or
// models.ConvDecoder, in the place of that of Train.
func (c MERFChain) Generator(a models.GeneratorArchitecture) MERFChain {
	c.architecture = a
	return c
}

// Train sets how the generator is trained. It costs nothing, whatever it is.
func (c MERFChain) Train(g merf.GeneratorConfig) MERFChain {
	c.generator = &g
	return c
}

// Seed sets the seed of public randomness: features, initial weights and codes. It has nothing to
// do with the noise, which cannot be seeded.
func (c MERFChain) Seed(seed uint64) MERFChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, finds the noise and adds up the bill. No record is read.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded.
func (c MERFChain) Plan() (*merf.Plan, error) {
	config := c.config
	config.Schema, config.Budget = c.schema, c.budget
	if c.nominal != 0 {
		config.Nominal = c.nominal
	}
	if c.generator != nil {
		config.Generator = *c.generator
	}
	if c.architecture != nil {
		config.Generator.Architecture = c.architecture
	}
	c.set(&config.Seed, &config.Generator.Seed)
	return config.Plan()
}

// Fit is Plan and then the plan's Fit.
func (c MERFChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
