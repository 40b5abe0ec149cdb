package ledger_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestPricesFollowATrimmedJournal: an open handle that finds lines trimmed, and reads a snapshot in
// their place, publishes the price of what the snapshot holds, and has no room left that it found
// before.
func TestPricesFollowATrimmedJournal(t *testing.T) {
	small, large := accountant.Pure{Epsilon: 0.01}, accountant.Pure{Epsilon: 0.835}
	s := ledger.Dir(t.TempDir())
	l, err := s.Create(t.Context(), "people", ledger.Terms{Budget: accountant.Budget{Epsilon: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other := opened(t, s)
	defer other.Close()
	for range 16 {
		if err := l.Spend("count", small); err != nil {
			t.Fatal(err)
		}
	}
	before := l.Epsilon().Upper
	if err := other.Spend("large", large); err != nil {
		t.Fatal(err)
	}
	if err := other.Compact(); err != nil {
		t.Fatal(err)
	}
	if got, want := l.Epsilon().Upper, other.Epsilon().Upper; got != want || !(got > before) {
		t.Errorf("ε = %v, want %v as in the journal, above %v", got, want, before)
	}
	if err := l.Spend("count", small); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("beyond the budget: got %v, want ErrBudgetExceeded", err)
	}
}
