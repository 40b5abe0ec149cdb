package synth_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// oneRelease is a plan of one Gaussian release that costs the budget.
func oneRelease(b accountant.Budget) (synth.Plan, error) {
	z, _, err := accountant.CalibrateNoise(b, func(z float64) accountant.Event {
		return accountant.Gaussian{NoiseMultiplier: z}
	})
	if err != nil {
		return nil, err
	}
	p, err := synth.NewProgram("reading", records.Interval(2, 0, 1), b, []synth.Stage{{Purpose: "a",
		Count: 1, Event: accountant.Gaussian{NoiseMultiplier: z}}}, reading{})
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
			p, err := synth.Within(whole, others, oneRelease)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			both := accountant.Composed{Events: []accountant.Event{others,
				synth.Total(p.Stages()...)}}
			cost, err := accountant.Epsilon(both, whole.Delta, r)
			if err != nil {
				t.Fatal(err)
			}
			if cost.Upper > whole.Epsilon || cost.Upper < 0.99*whole.Epsilon {
				t.Errorf("%s, %v: both cost ε = %v of %v", name, r, cost.Upper, whole.Epsilon)
			}
		}
	}
}

// TestWithinRefuses checks four errors: others that leave too little, missing arguments, a function
// that returns no plan, and a plan of another relation.
func TestWithinRefuses(t *testing.T) {
	whole := accountant.Budget{Epsilon: 2, Delta: 1e-5}
	others := accountant.Gaussian{NoiseMultiplier: 4}
	if _, err := synth.Within(whole, accountant.Gaussian{NoiseMultiplier: 0.5}, oneRelease); !errors.
		Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("others that cost more than the budget: %v", err)
	}
	var wrong *param.Error
	if _, err := synth.Within(whole, nil, oneRelease); !errors.As(err, &wrong) {
		t.Errorf("no others: %v", err)
	}
	for name, plan := range map[string]func(accountant.Budget) (synth.Plan, error){
		"no function": nil,
		"no plan":     func(accountant.Budget) (synth.Plan, error) { return nil, nil },
		"a plan of another relation": func(b accountant.Budget) (synth.Plan, error) {
			b.Relation = accountant.ReplaceOne
			return oneRelease(b)
		},
	} {
		if p, err := synth.Within(whole, others, plan); !errors.As(err, &wrong) {
			t.Errorf("%s: %v, plan %v", name, err, p)
		}
	}
}
