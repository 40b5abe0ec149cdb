package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Independent begins a chain for sets whose items are drawn independently, with the frequencies of
// one noisy release.
func Independent(schema records.Schema, budget accountant.Budget) BaselineChain {
	return baseline(schema, budget, func(c baselines.Common) (*baselines.Plan, error) {
		return baselines.Independent{Common: c}.Plan()
	})
}

// Tree begins a chain for sets drawn along a tree of the most strongly associated pairs of items.
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

// BaselineChain describes a run of one of the simple systems of package baselines.
type BaselineChain struct {
	common baselines.Common
	plan   func(baselines.Common) (*baselines.Plan, error)
	seeds
}

func baseline(schema records.Schema, budget accountant.Budget,
	plan func(baselines.Common) (*baselines.Plan, error)) BaselineChain {
	return BaselineChain{common: baselines.Common{Schema: schema, Budget: budget}, plan: plan}
}

// Nominal sets the approximate number of records, which must be public. Fields that are not set get
// defaults derived from it; see package baselines. The guarantee does not depend on it.
func (c BaselineChain) Nominal(records int) BaselineChain {
	c.common.Nominal = records
	return c
}

// MaxItems sets the largest number of items of a record that are used.
func (c BaselineChain) MaxItems(n int) BaselineChain {
	c.common.MaxItems = n
	return c
}

// Seed sets the seed of public randomness. It does not affect the noise, which cannot be
// seeded.
func (c BaselineChain) Seed(seed uint64) BaselineChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, calibrates the noise and prices all stages. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake.
func (c BaselineChain) Plan() (*baselines.Plan, error) {
	if c.plan == nil {
		return baselines.Independent{Common: c.common}.Plan()
	}
	c.set(&c.common.Seed)
	return c.plan(c.common)
}

// PlanFor implements [synth.Design].
func (c BaselineChain) PlanFor(s records.Schema, b accountant.Budget) (Plan, error) {
	c.common.Schema, c.common.Budget = s, b
	return synth.PlanOf(c.Plan())
}

// Fit calls Plan and then the plan's Fit.
func (c BaselineChain) Fit(ctx context.Context, data records.Data,
	opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
