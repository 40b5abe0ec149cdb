package compose

import (
	"errors"
	"slices"
	"sort"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// oneRelease is a plan of one Gaussian release that costs the budget.
func oneRelease(b accountant.Budget) (synth.Plan, error) {
	z, _, err := accountant.CalibrateNoise(b, gaussian)
	if err != nil {
		return nil, err
	}
	p, err := synth.NewProgram("plain", records.Interval(2, 0, 1), b, []synth.Stage{{Purpose: "a",
		Count: 1, Event: accountant.Gaussian{NoiseMultiplier: z}}}, plainWork{})
	return &struct{ *synth.Program }{&p}, err
}

// TestWithinUsesWhatIsLeft checks that the others and the plan together cost nearly the budget and
// never more. It tries expensive others, cheap others, and others that cost nothing.
func TestWithinUsesWhatIsLeft(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		whole := accountant.Budget{Epsilon: 2, Delta: 1e-5, Relation: r}
		sampled := accountant.PoissonSampled{Probability: 0.01,
			Event: accountant.Gaussian{NoiseMultiplier: 1}}
		for name, others := range map[string]accountant.Event{
			"dear":    accountant.Gaussian{NoiseMultiplier: 4},
			"cheap":   accountant.Gaussian{NoiseMultiplier: 400},
			"sampled": sampled,
			"nothing": accountant.Composed{},
		} {
			p, err := beside(whole, others, oneRelease)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			both := accountant.Composed{Events: []accountant.Event{others,
				synth.Total(p.Stages()...)}}
			cost := must(accountant.Epsilon(both, whole.Delta, r))(t)
			if cost.Upper > whole.Epsilon || cost.Upper < 0.99*whole.Epsilon {
				t.Errorf("%s, %v: both cost ε = %v of %v", name, r, cost.Upper, whole.Epsilon)
			}
		}
	}
}

// TestWithinBesidePureOthers has others of a pure ε, whose squared effects do not add up with a
// Gaussian's. Either both together cost nearly the budget and never more, or a Gaussian of a
// hundredth of the whole squared effect already costs too much beside the others. The last part of
// each budget is the largest that leaves this hundredth.
func TestWithinBesidePureOthers(t *testing.T) {
	for _, b := range []accountant.Budget{{Epsilon: 0.01, Delta: 1e-5}, {Epsilon: 1, Delta: 1e-5},
		{Epsilon: 1, Delta: 1e-10, Relation: accountant.ReplaceOne}, {Epsilon: 50, Delta: 1e-2},
		{Epsilon: 50, Delta: 1e-10}} {
		z, _, err := accountant.CalibrateNoise(b, gaussian)
		if err != nil {
			t.Fatal(err)
		}
		others := func(part float64) accountant.Event {
			return accountant.ExponentialMechanism{Epsilon: part * b.Epsilon}
		}
		cost := func(part float64, own accountant.Event) float64 {
			both := accountant.Composed{Events: []accountant.Event{others(part), own}}
			e := must(accountant.Epsilon(both, b.Delta, b.Relation))(t)
			return e.Upper / b.Epsilon
		}
		most := sort.Search(1000, func(i int) bool { return cost(float64(i)/1000, gaussian(10*z)) > 1 })
		for _, part := range []float64{0.001, 0.03, 0.3, 0.9, 0.933, 0.99, float64(most-1) / 1000} {
			p, err := beside(b, others(part), oneRelease)
			if refused := errors.Is(err, accountant.ErrBudgetExceeded); refused &&
				cost(part, gaussian(10*z)) <= 1 {
				t.Errorf("%v, %v of it for others: refused, but a hundredth fits", b, part)
			} else if err != nil && !refused {
				t.Fatal(err)
			}
			if err != nil {
				continue
			}
			if both := cost(part, synth.Total(p.Stages()...)); both > 1 || both < 0.995 {
				t.Errorf("%v, %v of it for others: both cost %v of it", b, part, both)
			}
		}
	}
}

// TestWithinBesideRareOthers has others that reveal much with a small probability. They cost nearly
// the whole budget alone, and a Gaussian beside them costs little more. Where δ pays for such a
// Gaussian alone, no budget can be stated for a plan, and the rest is refused.
func TestWithinBesideRareOthers(t *testing.T) {
	for z, want := range map[float64]error{0.3: nil, 1: accountant.ErrBudgetExceeded} {
		others := accountant.PoissonSampled{Probability: 1e-4,
			Event: accountant.Gaussian{NoiseMultiplier: z}}
		alone := must(accountant.Epsilon(others, 1e-5, accountant.AddOrRemoveOne))(t)
		b := accountant.Budget{Epsilon: alone.Upper * 1.003, Delta: 1e-5}
		p, err := beside(b, others, oneRelease)
		if !errors.Is(err, want) {
			t.Errorf("others of noise %v: got error %v, want %v", z, err, want)
		}
		if err != nil {
			continue
		}
		both := must(accountant.Epsilon(accountant.Composed{Events: []accountant.Event{others,
			synth.Total(p.Stages()...)}}, b.Delta, b.Relation))(t)
		if part := both.Upper / b.Epsilon; part > 1 || part < 0.9985 {
			t.Errorf("others of noise %v: both cost %v of the budget", z, part)
		}
	}
}

// plainWork is the work of a plan that is never run.
type plainWork struct{ synth.Work }

// TestWithinRefuses checks that releases which cost more than the budget leave nothing.
func TestWithinRefuses(t *testing.T) {
	whole := accountant.Budget{Epsilon: 2, Delta: 1e-5}
	_, err := beside(whole, accountant.Gaussian{NoiseMultiplier: 0.5}, oneRelease)
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("others that cost more than the budget: %v", err)
	}
}

// choices is the design of a plan of one choice, which costs the budget.
type choices struct{}

func (choices) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	p, err := synth.NewProgram("chooses", s, b, []synth.Stage{{Purpose: "a", Count: 1,
		Event: accountant.ExponentialMechanism{Epsilon: b.Epsilon}}}, plainWork{})
	return &struct{ *synth.Program }{&p}, err
}

// Title implements synth.Work.
func (plainWork) Title() string { return "" }

// TestManyPartsOfOneChoice: the squared effects of many choices add up to more than their sum. A
// composition of them has less of each, instead of none.
func TestManyPartsOfOneChoice(t *testing.T) {
	s := records.Interval(2, 0, 1)
	for n, budgets := range map[int][]accountant.Budget{
		32: {{Epsilon: 10, Delta: 1e-5}},
		3:  {{Epsilon: 100, Delta: 1e-5}},
	} {
		for _, b := range budgets {
			of := slices.Repeat([]synth.Design{choices{}}, n)
			p, err := planOf(pooling{s, make([]float64, n)}, s, b, of)
			if err != nil {
				t.Errorf("%d choices of %v: %v", n, b, err)
				continue
			}
			cost := p.Total()
			if !(cost.Upper <= b.Epsilon && cost.Upper > 0.9*b.Epsilon) {
				t.Errorf("%d choices cost %v of %v", n, cost.Upper, b)
			}
		}
	}
}
