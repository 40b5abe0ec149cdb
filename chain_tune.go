package privgen

import (
	"context"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/tune"
)

// Tune begins a search for the best of many runs of plans, at a price known beforehand (Papernot
// and Steinke 2022). Package tune states the guarantee and its conditions. The budget covers the
// whole search.
//
//	plan, err := privgen.Tune(budget).
//		Candidates(func(trial accountant.Budget) ([]privgen.Plan, error) { … }).
//		Trials(tune.Trials{Mean: 20}).
//		Score(tune.Accuracy{}, 50).
//		Plan()
//
// The chain is a plain value; Plan reports all mistakes together.
func Tune(budget accountant.Budget) TuneChain {
	return TuneChain{config: tune.Config{Budget: budget, Systems: Systems()}}
}

// TuneChain describes a search.
type TuneChain struct {
	config     tune.Config
	candidates func(accountant.Budget) ([]Plan, error)
}

// Candidates sets the function that makes the candidate plans for the budget of one trial. This is
// the largest budget with which the whole search stays within its own budget.
func (c TuneChain) Candidates(make func(trial accountant.Budget) ([]Plan, error)) TuneChain {
	c.candidates, c.config.Candidates = make, nil
	return c
}

// Plans sets the plans to choose from.
func (c TuneChain) Plans(plans ...Plan) TuneChain {
	c.candidates, c.config.Candidates = nil, slices.Clone(plans)
	return c
}

// Trials sets the distribution of the number of runs.
func (c TuneChain) Trials(t tune.Trials) TuneChain {
	c.config.Trials = t
	return c
}

// Score sets how a run's generator is judged on the private records, and the noise multiplier of
// each judgement.
func (c TuneChain) Score(s tune.Score, noise float64) TuneChain {
	c.config.Score, c.config.Noise = s, noise
	return c
}

// Plan validates the chain and prices the search. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded;
// accountant.ErrUnsupported; all errors of Candidates.
func (c TuneChain) Plan() (*tune.Plan, error) {
	if c.candidates == nil {
		return c.config.Plan()
	}
	within, err := c.config.Within(c.candidates)
	if err != nil {
		return nil, err
	}
	return within.Plan()
}

// Fit calls Plan and then the plan's Fit.
func (c TuneChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
