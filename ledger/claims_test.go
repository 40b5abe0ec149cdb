package ledger

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestClaimsAreOfOwnUses: uses that are counted ahead are of the reservation that is spent. The
// other ones of the same event and purpose, in another process, can all be taken.
func TestClaimsAreOfOwnUses(t *testing.T) {
	store := Memory()
	event := accountant.Gaussian{NoiseMultiplier: 200}
	one := must[*Ledger](t)(store.Create(t.Context(), "people",
		Terms{Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6}}))
	two := must[*Ledger](t)(store.Open(t.Context(), "people"))
	first := must[*Reservation](t)(one.Reserve("step", event, aheadShare+1))
	second := must[*Reservation](t)(two.Reserve("step", event, 9))
	for _, r := range []*Reservation{first, second} {
		for n := 1; r.Remaining() > 0; n++ {
			if err := r.Spend(); err != nil {
				t.Fatalf("use %d: %v", n, err)
			}
		}
		if err := r.Spend(); !errors.Is(err, ErrReservationExhausted) {
			t.Errorf("one more use: %v", err)
		}
	}
	if e := must[*Ledger](t)(store.Audit(t.Context(), "people")).Entries(); len(e) != 1 ||
		e[0].Spent != aheadShare+10 {
		t.Errorf("got %+v, want %d uses taken", e, aheadShare+10)
	}
}

// unchecked is a journal that does not look at the hash of a position, as it should.
type unchecked struct{ Journal }

func (j unchecked) Read(ctx context.Context, after Position) iter.Seq2[JournalLine, error] {
	return func(yield func(JournalLine, error) bool) {
		for line, err := range j.Journal.Read(ctx, Position{}) {
			if line.Line > after.Line && !yield(line, err) {
				return
			}
		}
	}
}

// TestHeldLinesAreFollowed: a ledger holds a line only if the next one follows it, whatever the
// journal says.
func TestHeldLinesAreFollowed(t *testing.T) {
	j := must[Journal](t)(Memory().Journal(t.Context(), "people", Create))
	l := must[*Ledger](t)(CreateOn(t.Context(), unchecked{j}, Terms{Name: "people",
		Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6}}))
	k := *l.Kept()
	if err := l.Spend("use", accountant.Gaussian{NoiseMultiplier: 100}); err != nil {
		t.Fatal(err)
	}
	if err := l.Holds(k); err != nil {
		t.Error(err)
	}
	other := k
	other.Position.Hash = l.Kept().Position.Hash
	if err := l.Holds(other); err == nil {
		t.Error("a line with another hash is held")
	}
}

// TestWindowsCountATransactionOnce: a transaction that goes on with uses that were lost is not
// counted again by a limit with a window.
func TestWindowsCountATransactionOnce(t *testing.T) {
	event := accountant.Gaussian{NoiseMultiplier: 50}
	budget := accountant.Budget{Epsilon: 3, Delta: 1e-6}
	twice := upper(t, accountant.Repeated{Event: event, Count: 4}, budget.Delta, budget.Relation)
	l := must[*Ledger](t)(Memory().Create(t.Context(), "people", Terms{Budget: budget,
		Limits: []Limit{{Window: time.Hour, Epsilon: twice * (1 + 1e-6)}}}))
	for taken := range 3 {
		if _, err := l.ReserveAll(Transaction{ID: "run", Lines: []Line{{Purpose: "step", Event: event,
			Count: 2, Taken: taken}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Reserve("step", event, 2); err != nil {
		t.Error(err)
	}
	if _, err := l.Reserve("step", event, 1); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("more than the limit: %v", err)
	}
}
