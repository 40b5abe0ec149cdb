package synth

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
)

// Within returns a plan for the largest budget that other releases leave of a whole budget, to
// within half a per cent of the whole. It calls plan several times, always with the whole budget's
// δ and relation.
//
// Guarantee: the other releases and the plan's stages together cost at most the whole budget's ε.
// Errors: all errors of the function plan; accountant.ErrBudgetExceeded if the other releases leave
// less than a hundredth of the budget, or so little that its own ε would be 0; *param.Error for
// missing arguments. Budgets are measured as the squared effect of the Gaussian release with the
// same ε.
func Within(whole accountant.Budget, others accountant.Event,
	plan func(accountant.Budget) (Plan, error)) (Plan, error) {
	var k param.Checker
	k.Add(whole.Validate())
	k.OK(others != nil, "synth.Within.others", nil, "an event")
	k.OK(plan != nil, "synth.Within.plan", nil, "a function")
	if err := k.Err(); err != nil {
		return nil, err
	}
	return split{whole, others, plan}.search()
}

// A split searches for the budget of a plan. It states amounts as the squared effect of the
// single Gaussian release with the same ε, since these nearly add up.
type split struct {
	budget accountant.Budget
	others accountant.Event
	plan   func(accountant.Budget) (Plan, error)
}

const (
	splitTries  = 12
	splitMost   = 36    // tries if none fits
	splitClose  = 0.995 // of the budget
	splitLeast  = 0.01  // of the squared effect
	splitMargin = 0.999
)

func (s split) search() (Plan, error) {
	first, err := accountant.Epsilon(s.others, s.budget.Delta, s.budget.Relation)
	if err != nil {
		return nil, fmt.Errorf("cost of the other releases: %w", err)
	}
	whole, err := s.effect(s.budget.Epsilon)
	if err != nil {
		return nil, err
	}
	least := splitLeast * whole
	used := 0.0
	if first.Upper >= s.budget.Epsilon {
		return nil, s.tooLittle()
	} else if first.Upper > 0 {
		if used, err = s.effect(first.Upper); err != nil {
			return nil, err
		}
	}
	free := max((whole-used)*splitMargin, least)
	var best Plan
	for try := 0; try < splitTries || best == nil && try < splitMost; try++ {
		own, cost, err := s.try(free)
		if err != nil {
			return nil, err
		}
		fits := cost <= s.budget.Epsilon
		if fits && (best == nil || own.Total().Upper > best.Total().Upper) {
			best = own
		}
		if fits && cost >= splitClose*s.budget.Epsilon || !fits && free == least {
			break
		}
		spent, err := s.effect(cost)
		if err != nil {
			return nil, err
		}
		scale := (whole - used) / max(spent-used, least)
		if free *= min(max(scale, 0.5), 2) * splitMargin; !fits && (scale >= 1 || try >= splitTries) {
			free *= splitClose
		}
		free = max(free, least)
	}
	if best == nil {
		return nil, s.tooLittle()
	}
	return best, nil
}

func (s split) tooLittle() error {
	return fmt.Errorf("the other releases leave too little of ε = %g: %w", s.budget.Epsilon,
		accountant.ErrBudgetExceeded)
}

// try returns the plan for a squared effect, and the cost of the plan together with the other
// releases.
func (s split) try(squared float64) (own Plan, cost float64, err error) {
	b := s.budget
	gaussian := accountant.Gaussian{NoiseMultiplier: 1 / math.Sqrt(squared)}
	e, err := accountant.Epsilon(gaussian, b.Delta, b.Relation)
	if err != nil {
		return nil, 0, err
	}
	if b.Epsilon = min(e.Upper, b.Epsilon); b.Epsilon == 0 {
		return nil, 0, s.tooLittle()
	}
	if own, err = s.plan(b); err != nil {
		return nil, 0, err
	}
	var k param.Checker
	k.OK(own != nil, "synth.Within.plan", nil, "a function that returns a plan")
	if k.Err() == nil {
		k.OK(own.Budget().Relation == b.Relation, "synth.Within.plan", own.Budget().Relation,
			"a plan of the budget's relation, "+b.Relation.String())
	}
	if err := k.Err(); err != nil {
		return nil, 0, err
	}
	both := accountant.Composed{Events: []accountant.Event{s.others, Total(own.Stages()...)}}
	total, err := accountant.Epsilon(both, b.Delta, b.Relation)
	return own, total.Upper, err
}

// effect returns the squared effect of the Gaussian release that costs ε.
func (s split) effect(epsilon float64) (float64, error) {
	b := s.budget
	b.Epsilon = epsilon
	z, _, err := accountant.CalibrateNoise(b, func(z float64) accountant.Event {
		return accountant.Gaussian{NoiseMultiplier: z}
	})
	return 1 / (z * z), err
}
