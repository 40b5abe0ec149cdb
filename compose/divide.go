package compose

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Fixed returns the design of a plan that keeps its own budget, whatever budget it is asked for.
func Fixed(p synth.Plan) synth.Design { return fixedPlan{p} }

type fixedPlan struct{ plan synth.Plan }

// PlanFor returns the plan.
func (f fixedPlan) PlanFor(records.Schema, accountant.Budget) (synth.Plan, error) {
	return f.plan, nil
}

// keepsBudget reports whether a design is a fixed plan.
func keepsBudget(d synth.Design) bool {
	_, ok := d.(fixedPlan)
	return ok
}

// divide plans the parts of a composition. The own stages of the composition come first. Each part
// but the last gets an n-th of the whole budget, and the last gets what is left. Parts of a budget
// are measured as the squared effect of the Gaussian release with the same ε. These nearly add up,
// but those of many choices, or of releases of few rounds, add up to more; see planOf.
//
// Errors: all errors of the designs; accountant.ErrBudgetExceeded if less than a hundredth is left
// for the last part; *param.Error for δ = 0, under which several parts cannot be measured.
func divide(n float64, c composition, b accountant.Budget, of []synth.Design) ([]synth.Plan,
	error) {
	var plans []synth.Plan
	last := len(of) - 1
	part := func(i int, b accountant.Budget) (synth.Plan, error) {
		p, err := of[i].PlanFor(c.reads(i), b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.kind().path(i), err)
		}
		return p, checkPart(c, i, p, b.Relation)
	}
	own, none := fraction(c, b, n)
	for i, d := range of[:last] {
		if none != nil && !keepsBudget(d) {
			return nil, none
		}
		p, err := part(i, own)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	if keepsBudget(of[last]) {
		p, err := part(last, b)
		return append(plans, p), err
	}
	others := (&frame{c, plans}).allStages()
	p, err := beside(b, synth.Total(others...), func(b accountant.Budget) (synth.Plan, error) {
		return part(last, b)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.kind().name, err)
	}
	return append(plans, p), nil
}

// fraction returns a budget with an n-th of the squared effect.
func fraction(c composition, b accountant.Budget, n float64) (accountant.Budget, error) {
	if b.Delta == 0 {
		return b, param.New(c.kind().config+".PlanFor.b.Delta", b.Delta, "a positive number")
	}
	noise, _, err := accountant.CalibrateNoise(b, gaussian)
	if err != nil {
		return b, err
	}
	own, err := accountant.Epsilon(gaussian(noise*math.Sqrt(n)), b.Delta, b.Relation)
	if err != nil {
		return b, err
	}
	if !(own.Upper > 0) {
		return b, fmt.Errorf("%s: a part of ε = %g, δ = %g would have ε = 0: %w",
			c.kind().name, b.Epsilon, b.Delta, accountant.ErrBudgetExceeded)
	}
	b.Epsilon = min(own.Upper, b.Epsilon)
	return b, nil
}

// gaussian returns one Gaussian release.
func gaussian(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} }

// beside returns a plan for the largest budget that other releases leave of a whole budget, to
// within half a per cent of the whole. It calls plan several times, always with the whole budget's
// δ and relation.
//
// Guarantee: the other releases and the plan's stages together cost at most the whole budget's ε.
// Errors: all errors of the function plan; accountant.ErrBudgetExceeded if the other releases leave
// less than a hundredth of the budget, or so little that its own ε would be 0.
func beside(budget accountant.Budget, others accountant.Event,
	plan func(accountant.Budget) (synth.Plan, error)) (synth.Plan, error) {
	s := split{budget, others, plan}
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
	var best synth.Plan
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

// A split searches for the budget of a plan. It states amounts as the squared effect of the
// single Gaussian release with the same ε, since these nearly add up.
type split struct {
	budget accountant.Budget
	others accountant.Event
	plan   func(accountant.Budget) (synth.Plan, error)
}

const (
	splitTries  = 12
	splitMost   = 36    // tries if none fits
	splitClose  = 0.995 // of the budget
	splitLeast  = 0.01  // of the squared effect
	splitMargin = 0.999
)

func (s split) tooLittle() error {
	return fmt.Errorf("the other releases leave too little of ε = %g: %w", s.budget.Epsilon,
		accountant.ErrBudgetExceeded)
}

// try returns the plan for a squared effect, and the cost of the plan together with the other
// releases.
func (s split) try(squared float64) (own synth.Plan, cost float64, err error) {
	b := s.budget
	e, err := accountant.Epsilon(gaussian(1/math.Sqrt(squared)), b.Delta, b.Relation)
	if err != nil {
		return nil, 0, err
	}
	if b.Epsilon = min(e.Upper, b.Epsilon); b.Epsilon == 0 {
		return nil, 0, s.tooLittle()
	}
	if own, err = s.plan(b); err != nil {
		return nil, 0, err
	}
	both := accountant.Composed{Events: []accountant.Event{s.others, synth.Total(own.Stages()...)}}
	total, err := accountant.Epsilon(both, b.Delta, b.Relation)
	return own, total.Upper, err
}

// effect returns the squared effect of the Gaussian release that costs ε.
func (s split) effect(epsilon float64) (float64, error) {
	b := s.budget
	b.Epsilon = epsilon
	z, _, err := accountant.CalibrateNoise(b, gaussian)
	return 1 / (z * z), err
}
