package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/records"
)

// Independent begins a chain for sets whose items are drawn independently, as often as one release
// counted them.
func Independent(schema records.Schema, budget accountant.Budget) BaselineChain {
	return baseline(schema, budget, func(c baselines.Common) (*baselines.Plan, error) {
		return baselines.Independent{Common: c}.Plan()
	})
}

// Tree begins a chain for sets drawn along a tree of the pairs of items that go together most.
func Tree(schema records.Schema, budget accountant.Budget) BaselineChain {
	return baseline(schema, budget, func(c baselines.Common) (*baselines.Plan, error) {
		return baselines.Tree{Common: c}.Plan()
	})
}

// MWEM begins a chain for sets drawn from weights that answer counting queries (Hardt, Ligett and
// McSherry 2012).
func MWEM(schema records.Schema, budget accountant.Budget) BaselineChain {
	return baseline(schema, budget, func(c baselines.Common) (*baselines.Plan, error) {
		return baselines.MWEM{Common: c}.Plan()
	})
}

// BaselineChain is one of the simple systems of package baselines being described.
type BaselineChain struct {
	common baselines.Common
	plan   func(baselines.Common) (*baselines.Plan, error)
	seeds
}

func baseline(schema records.Schema, budget accountant.Budget,
	plan func(baselines.Common) (*baselines.Plan, error)) BaselineChain {
	return BaselineChain{common: baselines.Common{Schema: schema, Budget: budget}, plan: plan}
}

// Nominal declares about how many records there are, a public number, from which everything that is
// not set follows: see package baselines. The guarantee does not rest on it.
func (c BaselineChain) Nominal(records int) BaselineChain {
	c.common.Nominal = records
	return c
}

// MaxItems sets how many items of a record are used.
func (c BaselineChain) MaxItems(n int) BaselineChain {
	c.common.MaxItems = n
	return c
}

// Seed sets the seed of public randomness. It has nothing to do with the noise, which cannot be
// seeded.
func (c BaselineChain) Seed(seed uint64) BaselineChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, finds the noise and adds up the bill. No record is read.
//
// Errors: joined *param.Error values, one for each mistake.
func (c BaselineChain) Plan() (*baselines.Plan, error) {
	if c.plan == nil {
		return baselines.Independent{Common: c.common}.Plan()
	}
	c.set(&c.common.Seed)
	return c.plan(c.common)
}

// Fit is Plan and then the plan's Fit.
func (c BaselineChain) Fit(ctx context.Context, data records.Data,
	opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
