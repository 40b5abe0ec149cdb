package mechanism_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
)

var transactionBudget = accountant.Budget{Epsilon: 1, Delta: 1e-5}

func transaction(z float64) accountant.Transaction {
	e := accountant.Gaussian{NoiseMultiplier: z}
	return accountant.Transaction{Lines: []accountant.Line{{Purpose: "a", Event: e, Count: 1},
		{Purpose: "b", Event: e, Count: 2}, {Purpose: "b", Event: e, Count: 1}}}
}

func TestReserveAllGivesNothingOrEverything(t *testing.T) {
	ledger := accountant.NewLedger(transactionBudget)
	if _, err := mechanism.ReserveAll(t.Context(), ledger, transaction(5)); !errors.Is(err,
		accountant.ErrBudgetExceeded) || len(ledger.Entries()) != 0 {
		t.Fatalf("%v, ledger %v", err, ledger.Entries())
	}
	if _, err := mechanism.ReserveAll(t.Context(), nil, transaction(5)); err == nil {
		t.Error("no ledger: accepted")
	}
	all, err := mechanism.ReserveAll(t.Context(), ledger, transaction(50))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 2, 1} {
		if got := all[i].Remaining(); got != want {
			t.Errorf("line %d: %d uses, want %d", i, got, want)
		}
	}
}

// TestGuardComesBeforeTheUse: what the guard refuses is not taken.
func TestGuardComesBeforeTheUse(t *testing.T) {
	ledger := accountant.NewLedger(transactionBudget)
	all, err := mechanism.ReserveAll(t.Context(), ledger, transaction(50))
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	asked, refuse := 0, error(nil)
	all[1].Guard(func() error { asked++; return refuse })
	if _, err := all[1].Next(); err != nil || asked != 1 {
		t.Fatal(asked, err)
	}
	refuse = full
	if _, err := all[1].Next(); !errors.Is(err, full) || all[1].Remaining() != 1 {
		t.Errorf("%v, %d uses left", err, all[1].Remaining())
	}
	if e := ledger.Entries()[1]; e.Spent != 1 {
		t.Errorf("the ledger counts %d uses", e.Spent)
	}
}
