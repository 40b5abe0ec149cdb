package dpgm_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestARunThatCannotBePaidDoesNotBegin checks that a run is refused before it releases the clusters
// if the ledger cannot pay for all stages. On a ledger with a filter a run can cost more than its
// plan, and a child ledger has only the budget that its parent has left.
func TestARunThatCannotBePaidDoesNotBegin(t *testing.T) {
	plan, data := mustPlan(t, small(records.Binary(6), accountant.AddOrRemoveOne)), bits(t, 20, 6, 1)
	budget := plan.Config.Budget
	parent := ledger.New(budget)
	if err := parent.Spend("before", accountant.Gaussian{NoiseMultiplier: 5}); err != nil {
		t.Fatal(err)
	}
	children := must(parent.Disjoint(ledger.Parts{Purpose: "halves", N: 2}))(t)
	for name, l := range map[string]*ledger.Ledger{
		"filter": ledger.New(budget, ledger.WithFilter(100)), "child": children[0],
	} {
		_, err := plan.FitOn(t.Context(), l, data)
		if !errors.Is(err, accountant.ErrBudgetExceeded) || len(l.Entries()) > 0 {
			t.Errorf("%s: got error %v and %d ledger entries, want ErrBudgetExceeded and none", name, err,
				len(l.Entries()))
		}
	}
}
