package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Mix begins a chain for noisy mixtures of records (Lee et al. 2019; package mix lists the
// differences from the paper).
//
// The schema is public. The chain is a plain value: a method sets a field of a copy. Chains can
// therefore be forked, and the order of calls does not matter. Plan reports all mistakes together.
func Mix(schema records.Schema, budget accountant.Budget) MixChain {
	return MixChain{schema: schema, budget: budget}
}

// MixChain describes a release of mixtures.
type MixChain struct {
	schema  records.Schema
	budget  accountant.Budget
	nominal int
	config  mix.Config
	seeds
}

// Nominal sets the approximate number of records, which must be public. Fields that are not set get
// defaults derived from it; see package mix. Under replace-one it must be the exact number of
// records.
func (c MixChain) Nominal(records int) MixChain {
	c.nominal = records
	return c
}

// Mixtures sets the number of mixtures, the number of records in each and how records are chosen.
// Schema and budget are the chain's.
func (c MixChain) Mixtures(m mix.Config) MixChain {
	c.config = m
	return c
}

// Seed sets the seed of the projection, if there is one. It does not affect the noise, which cannot
// be seeded.
func (c MixChain) Seed(seed uint64) MixChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, chooses the degree, calibrates the noise and prices all stages.
// It reads no records.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded;
// accountant.ErrUnsupported where no sound analysis is known.
func (c MixChain) Plan() (*mix.Plan, error) {
	config := c.config
	config.Schema, config.Budget = c.schema, c.budget
	if c.nominal != 0 {
		config.Nominal = c.nominal
	}
	if config.Projection.Dim != 0 {
		c.set(&config.Projection.Seed)
	}
	return config.Plan()
}

// PlanFor implements [synth.Design].
func (c MixChain) PlanFor(s records.Schema, b accountant.Budget) (Plan, error) {
	c.schema, c.budget = s, b
	return synth.PlanOf(c.Plan())
}

// Fit calls Plan and then the plan's Fit. The generator returns the released rows, repeated if more
// are requested than were released. Its model is a *mix.Model, which has the released rows.
func (c MixChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
