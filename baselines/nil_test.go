package baselines_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestAPlanIsNeeded: a plan that no method made is refused.
func TestAPlanIsNeeded(t *testing.T) {
	data, err := records.FromItems(records.Sets(3, 2), [][]uint32{{1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*baselines.Plan{nil, {}} {
		var wrong *param.Error
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1, Delta: 1e-5})
		if _, err := p.Fit(context.Background(), data, ledger); !errors.As(err, &wrong) {
			t.Errorf("%v", err)
		}
	}
}

// TestARunThatCannotBePaidSetsNothingAside: a ledger that could pay some of the stages pays none.
func TestARunThatCannotBePaidSetsNothingAside(t *testing.T) {
	schema, budget := records.Sets(9, 3), accountant.Budget{Epsilon: 1, Delta: 1e-5}
	data, err := records.FromItems(schema, [][]uint32{{1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range plans(t, schema, budget) {
		if len(p.Stages) < 2 {
			continue
		}
		parent := accountant.NewLedger(budget)
		if err := parent.Spend("before", accountant.Gaussian{NoiseMultiplier: 12}); err != nil {
			t.Fatal(err)
		}
		before := parent.Epsilon()
		if _, err := p.Fit(context.Background(), data, parent); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		if parent.Epsilon() != before {
			t.Errorf("%s: a refused fit has set something aside", name)
		}
	}
}

// TestAPlanThatNobodyMadePrints without a panic, as a forgotten error's plan is printed.
func TestAPlanThatNobodyMadePrints(t *testing.T) {
	if (&baselines.Plan{}).String() == "" {
		t.Error("nothing is said")
	}
}
