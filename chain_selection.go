package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/selection"
	"github.com/seed7ba64551/privgen/synth"
)

// Selected chooses among the synthetic records by a private classifier, on the same ledger: of the
// records that MERF's generator draws, those are kept that the classifier gives their own label. The
// chain's budget is that of both; MERF gets what the classifier leaves.
//
//	gen, err := privgen.MERF(schema, budget).Nominal(60_000).
//		Selected(selection.Config{}).
//		Fit(ctx, images)
//
// Fields of s that are not set get defaults; Budget, Of and, if it is 0, Nominal are the chain's.
func (c MERFChain) Selected(s selection.Config) SelectionChain {
	s.Budget = c.budget
	if s.Nominal == 0 {
		s.Nominal = c.nominal
	}
	return SelectionChain{config: s, of: func(b accountant.Budget) (Plan, error) {
		c.budget = b
		return synth.PlanOf(c.Plan())
	}}
}

// Selected chooses among the synthetic records by a private classifier, as [MERFChain.Selected]
// does. The chain's budget is that of both; the GAN gets what the classifier leaves.
func (c GANChain) Selected(s selection.Config) SelectionChain {
	s.Budget = c.budget
	if s.Nominal == 0 {
		s.Nominal = c.nominal
	}
	return SelectionChain{config: s, of: func(b accountant.Budget) (Plan, error) {
		c.budget = b
		return synth.PlanOf(c.Plan())
	}}
}

// SelectionChain describes a run of a system and of a classifier that chooses among its records;
// see package selection.
type SelectionChain struct {
	of     func(accountant.Budget) (Plan, error)
	config selection.Config
	seeds
}

func (c SelectionChain) first() (Plan, error) { return synth.PlanOf(c.Plan()) }

// Seed sets the seed of the classifier's features and initial weights.
func (c SelectionChain) Seed(seed uint64) SelectionChain {
	c.seed = &seed
	return c
}

// Plan finds the classifier's noise and the other system's budget, and prices all stages together.
// It reads no records.
//
// Errors: those of the other system's chain and of selection.Config; accountant.ErrBudgetExceeded
// if the classifier leaves too little.
func (c SelectionChain) Plan() (*selection.Plan, error) {
	config := c.config
	c.set(&config.Seed)
	if c.of == nil {
		return config.Plan() // an error that says what is missing
	}
	config, err := config.Within(c.of)
	if err != nil {
		return nil, err
	}
	return config.Plan()
}

// Fit calls Plan and then the plan's Fit.
func (c SelectionChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator,
	error) {
	return fit(ctx, c.Plan, data, opts)
}
