package dpgm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestOptionsMayBeNil: what is nil has its default, and nothing panics once the budget has been spent.
func TestOptionsMayBeNil(t *testing.T) {
	plan, data := mustPlan(t, small(records.Binary(6), accountant.AddOrRemoveOne)), bits(t, 20, 6, 1)
	for name, o := range map[string]dpgm.Option{
		"option": nil, "progress": dpgm.WithProgress(nil), "backend": dpgm.WithBackend(nil),
	} {
		if _, err := dpgm.Fit(context.Background(), plan, data, accountant.NewLedger(plan.Config.Budget), o); err != nil {
			t.Errorf("no %s: %v", name, err)
		}
	}
}

// TestAPlanIsNeeded: a plan that Config.Plan has not made is refused before anything is spent.
func TestAPlanIsNeeded(t *testing.T) {
	c := small(records.Binary(6), accountant.AddOrRemoveOne)
	c.Model = nil
	for _, p := range []*dpgm.Plan{nil, {}, {Config: c}} {
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1, Delta: 1e-5})
		var wrong *param.Error
		if _, err := dpgm.Fit(context.Background(), p, bits(t, 20, 6, 1), ledger); !errors.As(err, &wrong) {
			t.Errorf("%v", err)
		}
		if len(ledger.Entries()) > 0 {
			t.Error("a refused fit has spent")
		}
	}
}

// TestAPlanThatNobodyMadePrints without a panic, as a forgotten error's plan is printed.
func TestAPlanThatNobodyMadePrints(t *testing.T) {
	if (&dpgm.Plan{}).String() == "" {
		t.Error("nothing is said")
	}
}
