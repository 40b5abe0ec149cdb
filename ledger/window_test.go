package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestWindowsCountTransactions: a limit with a window counts what transactions set aside, as it
// counts single reservations, in the handle that reserved, in another that was open, in one that
// reads all lines and in one that begins with a snapshot.
func TestWindowsCountTransactions(t *testing.T) {
	event := accountant.Gaussian{NoiseMultiplier: 100}
	two, err := accountant.Epsilon(accountant.Repeated{Event: event, Count: 2}, 1e-6, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := ledger.Memory()
	first, err := s.Create(t.Context(), "people", ledger.Terms{
		Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6},
		Limits: []ledger.Limit{{Epsilon: 1.01 * two.Upper, Window: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	other := opened(t, s)
	if _, err := first.ReserveAll(twoUses(event)); err != nil {
		t.Fatal(err)
	}
	refused := func(how string, l *ledger.Ledger) {
		t.Helper()
		_, err := l.ReserveAll(twoUses(event))
		for _, err := range []error{err, l.Spend("one", event)} {
			if !errors.Is(err, accountant.ErrBudgetExceeded) {
				t.Errorf("%s: got %v, want ErrBudgetExceeded", how, err)
			}
		}
	}
	refused("the same handle", first)
	refused("an open handle", other)
	refused("a new handle", opened(t, s))
	if err := first.Compact(); err != nil {
		t.Fatal(err)
	}
	refused("after a snapshot", opened(t, s))
}

func twoUses(event accountant.Event) ledger.Transaction {
	return ledger.Transaction{Lines: []ledger.Line{
		{Purpose: "a", Event: event, Count: 1}, {Purpose: "b", Event: event, Count: 1}}}
}

func opened(t *testing.T, s *ledger.Store) *ledger.Ledger {
	t.Helper()
	l, err := s.Open(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestWindowsOfOtherPurposes: a limit for another purpose takes no part in a request, and every
// other limit counts the uses in its own window.
func TestWindowsOfOtherPurposes(t *testing.T) {
	event := accountant.Gaussian{NoiseMultiplier: 100}
	one, err := accountant.Epsilon(event, 1e-6, 0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Memory().Create(t.Context(), "people", ledger.Terms{
		Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6},
		Limits: []ledger.Limit{{Purpose: "other", Epsilon: 1, Window: time.Hour},
			{Epsilon: 1.01 * one.Upper, Window: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Spend("one", event); err != nil {
		t.Fatal(err)
	}
	for _, purpose := range []string{"one", "other"} {
		if err := l.Spend(purpose, event); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("a second use, for %q: got %v, want ErrBudgetExceeded", purpose, err)
		}
	}
}
