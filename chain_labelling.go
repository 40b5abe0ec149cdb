package privgen

import (
	"cmp"
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/labelling"
	"github.com/seed7ba64551/privgen/records"
)

// Labelled adds a private classifier that chooses among the synthetic records. By default it keeps
// the records of MERF's generator to which the classifier gives their own label. The chain's budget
// pays for both, on one ledger. MERF gets the part that the classifier leaves.
//
//	gen, err := privgen.MERF(schema, budget).Nominal(60_000).
//		Labelled(labelling.Config{}).
//		Fit(ctx, images)
//
// Fields of s that are not set get defaults; Budget, Of and, if it is 0, Nominal are the chain's.
func (c MERFChain) Labelled(s labelling.Config) LabellingChain {
	return labelled(s, c.budget, c.nominal, c.planFor)
}

// Labelled adds a private classifier that chooses among the synthetic records, as
// [MERFChain.Labelled] does. The chain's budget pays for both. The GAN gets the part that the
// classifier leaves.
func (c GANChain) Labelled(s labelling.Config) LabellingChain {
	return labelled(s, c.budget, c.nominal, c.planFor)
}

// labelled returns the chain of a classifier beside a system that of plans for a part of the
// budget.
func labelled(s labelling.Config, b accountant.Budget, nominal int, of planner) LabellingChain {
	s.Budget, s.Nominal = b, cmp.Or(s.Nominal, nominal)
	return LabellingChain{config: s, of: of}
}

// LabellingChain describes a run of a system and of a classifier that chooses among its records;
// see package labelling.
type LabellingChain struct {
	of     planner
	config labelling.Config
	seeds
}

// Seed sets the seed of the classifier's features and initial weights.
func (c LabellingChain) Seed(seed uint64) LabellingChain {
	c.seed = &seed
	return c
}

// Plan finds the classifier's noise and the other system's budget, and prices all stages together.
// It reads no records.
//
// Errors: all errors of the other system's chain and of labelling.Config;
// accountant.ErrBudgetExceeded if the classifier leaves too little.
func (c LabellingChain) Plan() (*labelling.Plan, error) {
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
func (c LabellingChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator,
	error) {
	return fit(ctx, c.Plan, data, opts)
}
