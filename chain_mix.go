package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// Mix begins a chain for noisy mixtures of records (Lee et al. 2019; package mix says where this
// differs from the paper).
//
// The schema is public. The chain is a plain value; a step only records, so chains can be forked
// freely, the order of steps means nothing, and everything is judged at once by Plan.
func Mix(schema records.Schema, budget accountant.Budget) MixChain {
	return MixChain{schema: schema, budget: budget}
}

// MixChain is a release of mixtures being described.
type MixChain struct {
	schema  records.Schema
	budget  accountant.Budget
	nominal int
	config  mix.Config
	seeds
}

// Nominal declares about how many records there are, a public number, from which everything that is
// not set follows: see package mix. Under replace-one it is the number of records.
func (c MixChain) Nominal(records int) MixChain {
	c.nominal = records
	return c
}

// Mixtures sets how many mixtures of how many records are released, and how records get into them.
// Schema and budget are the chain's.
func (c MixChain) Mixtures(m mix.Config) MixChain {
	c.config = m
	return c
}

// Seed sets the seed of public randomness, which is that of a projection where there is one. It has
// nothing to do with the noise, which cannot be seeded.
func (c MixChain) Seed(seed uint64) MixChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, finds degree and noise and adds up the bill. No record is read.
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

// Fit is Plan and then the plan's Fit. Of tables and sets the generator draws as many records as
// are asked for; of vectors and images it hands out the released rows, again and again if more are
// asked for than were released. The generator's model is a *mix.Model, which has the released rows.
func (c MixChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
