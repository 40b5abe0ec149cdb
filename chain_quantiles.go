package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/quantiles"
	"github.com/seed7ba64551/privgen/records"
)

// Quantiles fits MERF to ranks of numbers instead of numbers. It first releases noisy counts of
// the numbers of each column, and maps synthetic ranks back to numbers by these counts. So columns
// keep values that many records share, and columns of very unequal amounts. The chain's budget pays
// for both, on one ledger. MERF gets the part that the counts leave.
//
//	gen, err := privgen.MERF(schema, budget).Nominal(30_000).
//		Quantiles(quantiles.Config{}).
//		Fit(ctx, table)
//
// Fields of q that are not set get defaults; Schema, Budget and Of are the chain's.
func (c MERFChain) Quantiles(q quantiles.Config) QuantilesChain {
	q.Schema, q.Budget = c.schema, c.budget
	return QuantilesChain{config: q, of: func(s records.Schema, b accountant.Budget) (Plan, error) {
		c.schema = s
		return c.planFor(b)
	}}
}

// Quantiles fits the GAN to ranks of numbers; see [MERFChain.Quantiles].
func (c GANChain) Quantiles(q quantiles.Config) QuantilesChain {
	q.Schema, q.Budget = c.schema, c.budget
	return QuantilesChain{config: q, of: func(s records.Schema, b accountant.Budget) (Plan, error) {
		c.schema = s
		return c.planFor(b)
	}}
}

// QuantilesChain describes a run of a system on ranks of numbers; see package quantiles.
type QuantilesChain struct {
	of     func(records.Schema, accountant.Budget) (Plan, error)
	config quantiles.Config
	seeds
}

// Seed sets the seed of the synthetic records on which the mapping back is computed.
func (c QuantilesChain) Seed(seed uint64) QuantilesChain {
	c.seed = &seed
	return c
}

// Plan finds the noise of the counts and the other system's budget, and prices all stages together.
// It reads no records.
//
// Errors: all errors of the other system's chain and of quantiles.Config;
// accountant.ErrBudgetExceeded if the counts leave too little.
func (c QuantilesChain) Plan() (*quantiles.Plan, error) {
	config := c.config
	c.set(&config.Seed)
	if c.of == nil {
		return config.Plan() // an error that names the missing part
	}
	config, err := config.Within(c.of)
	if err != nil {
		return nil, err
	}
	return config.Plan()
}

// Fit calls Plan and then the plan's Fit.
func (c QuantilesChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator,
	error) {
	return fit(ctx, c.Plan, data, opts)
}
