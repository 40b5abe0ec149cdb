package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// MERF begins a chain for labelled synthetic records from one private release of mean features
// (Harder et al. 2021; package merf lists the differences from the paper).
//
// The schema is public: bounds and levels in it are declared, never read from the records. Classes
// are modelled: OfClass draws records of one class. The chain is a plain value: a method sets a
// field of a copy. Chains can therefore be forked, and the order of calls does not matter. Plan
// reports all mistakes together.
func MERF(schema records.Schema, budget accountant.Budget) MERFChain {
	return MERFChain{schema: schema, budget: budget}
}

// MERFChain describes a DP-MERF run.
type MERFChain struct {
	schema       records.Schema
	budget       accountant.Budget
	nominal      int
	config       merf.Config
	generator    *merf.GeneratorConfig
	architecture models.GeneratorArchitecture
	seeds
}

// Nominal sets the approximate number of records, which must be public. Fields that are not set get
// defaults derived from it; see package merf. Under replace-one it must be the exact number of
// records.
func (c MERFChain) Nominal(records int) MERFChain {
	c.nominal = records
	return c
}

// Embed sets the release of mean features. Schema and budget are the chain's.
func (c MERFChain) Embed(e merf.Config) MERFChain {
	c.config = e
	return c
}

// Generator sets the architecture that is trained against the release, for example models.MLP or
// models.ConvDecoder. It overrides the architecture in the argument of Train.
func (c MERFChain) Generator(a models.GeneratorArchitecture) MERFChain {
	c.architecture = a
	return c
}

// Train sets how the generator is trained. Training costs no privacy.
func (c MERFChain) Train(g merf.GeneratorConfig) MERFChain {
	c.generator = &g
	return c
}

// Seed sets the seed of public randomness: features, initial weights and codes. It does not
// affect the noise, which cannot be seeded.
func (c MERFChain) Seed(seed uint64) MERFChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, calibrates the noise and prices all stages. It reads no records.
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

// PlanFor implements [synth.Design].
func (c MERFChain) PlanFor(s records.Schema, b accountant.Budget) (Plan, error) {
	c.schema, c.budget = s, b
	return synth.PlanOf(c.Plan())
}

// Fit calls Plan and then the plan's Fit.
func (c MERFChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
