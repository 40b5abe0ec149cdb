package ledger

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestPureEventsUseTheWholeBudget checks that pure events whose ε's add up to the budget exactly
// are accepted at δ = 0, and that the refusal of one that costs slightly more shows the difference.
func TestPureEventsUseTheWholeBudget(t *testing.T) {
	for _, eps := range []float64{0.1, 0.5, 1, 2, 3} {
		for name, e := range map[string]accountant.Event{"pure": accountant.Pure{Epsilon: eps},
			"Laplace":     accountant.Laplace{Scale: 1 / eps},
			"exponential": accountant.ExponentialMechanism{Epsilon: eps},
			"two halves":  accountant.Repeated{Event: accountant.Pure{Epsilon: eps / 2}, Count: 2}} {
			if m, _ := math.Frexp(eps); name == "Laplace" && m != 0.5 {
				continue // the float64 of 1/ε is not 1/ε
			}
			if err := New(accountant.Budget{Epsilon: eps}).Spend("x", e); err != nil {
				t.Errorf("%s of ε = %v: %v", name, eps, err)
			}
		}
	}
	more := math.Nextafter(1, 2)
	err := New(accountant.Budget{Epsilon: 1}).Spend("x", accountant.Pure{Epsilon: more})
	if !errors.Is(err, accountant.ErrBudgetExceeded) ||
		!strings.Contains(err.Error(), "1.0000000000000002") {
		t.Errorf("ε = %v: error %v, want a refusal with all digits", more, err)
	}
	ten := accountant.Repeated{Event: accountant.Pure{Epsilon: 0.1}, Count: 10}
	if err := New(accountant.Budget{Epsilon: 1}).Spend("x", ten); err == nil {
		t.Error("ten times the float64 0.1, which is above a tenth, costs at most 1")
	}
}
