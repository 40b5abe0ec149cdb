package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// GAN begins a chain for a generative adversarial network (Zhang, Ji and Wang 2018; package gan
// lists the differences from the paper).
//
// The schema is public. Labels are part of the record, and the generator makes records of all
// classes with the same probability. The chain is a plain value: a method sets a field of a copy.
// Chains can therefore be forked, and the order of calls does not matter. Plan reports all mistakes
// together.
func GAN(schema records.Schema, budget accountant.Budget) GANChain {
	return GANChain{schema: schema, budget: budget}
}

// GANChain describes a GAN run.
type GANChain struct {
	schema    records.Schema
	budget    accountant.Budget
	critic    models.CriticArchitecture
	generator models.GeneratorArchitecture
	latent    int
	nominal   int
	config    gan.Config
	seeds
}

// Nominal sets the approximate number of records, which must be public. Fields that are not set get
// defaults derived from it; see package gan. The guarantee does not depend on it.
func (c GANChain) Nominal(records int) GANChain {
	c.nominal = records
	return c
}

// Critic sets the network that distinguishes records from generated records. It overrides the
// critic in the argument of Train. The critic is the only network that sees records.
func (c GANChain) Critic(a models.CriticArchitecture) GANChain {
	c.critic = a
	return c
}

// Generator sets the network that makes records from random codes with the given number of latent
// coordinates. It overrides the generator in the argument of Train.
func (c GANChain) Generator(a models.GeneratorArchitecture, latent int) GANChain {
	c.generator, c.latent = a, latent
	return c
}

// Train sets how both networks are trained. Schema and budget are the chain's. A noise multiplier
// of 0 is calibrated to the budget.
func (c GANChain) Train(g gan.Config) GANChain {
	c.config = g
	return c
}

// Seed sets the seed of public randomness: initial weights, codes and draws of public records. It
// does not affect the noise, which cannot be seeded.
func (c GANChain) Seed(seed uint64) GANChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, calibrates the noise and prices all stages. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded;
// accountant.ErrUnsupported where no sound analysis is known.
func (c GANChain) Plan() (*gan.Plan, error) {
	config := c.config
	config.Schema, config.Budget = c.schema, c.budget
	if c.critic != nil {
		config.Critic = c.critic
	}
	if c.generator != nil {
		config.Generator, config.Latent = c.generator, c.latent
	}
	if c.nominal != 0 {
		config.Nominal = c.nominal
	}
	c.set(&config.Seed)
	return config.Plan()
}

// PlanFor implements [synth.Design].
func (c GANChain) PlanFor(s records.Schema, b accountant.Budget) (Plan, error) {
	c.schema, c.budget = s, b
	return synth.PlanOf(c.Plan())
}

// Fit calls Plan and then the plan's Fit.
func (c GANChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
