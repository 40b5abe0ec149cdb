package privgen

import (
	"context"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/pool"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Pooled is a chain whose system can be in a pool: a chain of one system, such as [AIM] or [MERF],
// or of a system on ranks. The chain's own budget is not used.
type Pooled interface {
	planFor(b accountant.Budget) (Plan, error)
}

// Pool begins a chain of several systems on one ledger. Each gets an equal part of the budget, and
// synthetic records come from all of them in equal parts, in random order; see package pool.
//
//	gen, err := privgen.Pool(budget,
//		privgen.AIM(schema, budget).Nominal(30_000),
//		privgen.MERF(schema, budget).Nominal(30_000).Quantiles(quantiles.Config{}),
//	).Fit(ctx, table)
//
// Two generators of the same system need seeds of their own.
func Pool(budget accountant.Budget, of ...Pooled) PoolChain {
	return PoolChain{config: pool.Config{Budget: budget}, of: slices.Clone(of)}
}

// PoolChain describes a run of several systems on one ledger.
type PoolChain struct {
	of     []Pooled
	config pool.Config
}

// Shares sets the part of the synthetic records that comes from each system. The default is equal
// parts. Every system has the same part of the budget, whatever its share is.
func (c PoolChain) Shares(shares ...float64) PoolChain {
	c.config.Shares = slices.Clone(shares)
	return c
}

// Plan finds the budgets of all systems and prices all stages together. It reads no records.
//
// Errors: all errors of the systems' chains and of pool.Config.
func (c PoolChain) Plan() (*pool.Plan, error) {
	var plans []func(accountant.Budget) (synth.Plan, error)
	for _, of := range c.of {
		if of == nil {
			plans = append(plans, nil) // an error that names the missing part
			continue
		}
		plans = append(plans, of.planFor)
	}
	config, err := c.config.Within(plans...)
	if err != nil {
		return nil, err
	}
	return config.Plan()
}

// Fit calls Plan and then the plan's Fit.
func (c PoolChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
