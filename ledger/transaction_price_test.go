package ledger_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// payFor returns a ledger whose budget is the cost of twelve uses of gaussianEvent(12).
func payFor(t *testing.T) *ledger.Ledger {
	t.Helper()
	cost := must(accountant.Epsilon(accountant.Repeated{Event: gaussianEvent(12), Count: 12}, 1e-5,
		accountant.AddOrRemoveOne))(t)
	return ledger.New(accountant.Budget{Epsilon: cost.Upper * (1 + 1e-9), Delta: 1e-5})
}

// TestTransactionsPriceEveryUseAndPart: all uses of a line are priced, and so is every part of a
// group, at any position of the most expensive part.
func TestTransactionsPriceEveryUseAndPart(t *testing.T) {
	for _, c := range []struct {
		parts []int // uses in each part; a single number is for one line on the ledger itself
		fits  bool
	}{
		{[]int{12}, true}, {[]int{13}, false},
		{[]int{12, 12, 12}, true}, {[]int{13, 1, 1}, false}, {[]int{1, 13, 1}, false},
		{[]int{1, 1, 13}, false},
	} {
		var tx ledger.Transaction
		for part, n := range c.parts {
			line := ledger.Line{Purpose: "steps", Event: gaussianEvent(12), Count: n}
			if len(c.parts) > 1 {
				tx.Groups = []ledger.Parts{{Purpose: "by class", N: len(c.parts)}}
				line.Group, line.Part = 1, part
			}
			tx.Lines = append(tx.Lines, line)
		}
		_, err := payFor(t).ReserveAll(tx)
		if (err == nil) != c.fits || err != nil && !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("%v uses: got %v, want no error for at most 12 uses in a part", c.parts, err)
		}
	}
}

// TestNewTransactionsCountWhatIsGone: a new transaction may state that some uses are taken. The
// ledger counts these uses as taken.
func TestNewTransactionsCountWhatIsGone(t *testing.T) {
	l := payFor(t)
	got := must(l.ReserveAll(ledger.Transaction{ID: "a", Lines: []ledger.Line{
		{Purpose: "steps", Event: gaussianEvent(12), Count: 12, Taken: 5}}}))(t)
	if n := got[0].Remaining(); n != 7 {
		t.Errorf("%d uses are left, want 7 of 12", n)
	}
	if e := l.Entries()[0]; e.Spent != 5 {
		t.Errorf("the ledger counts %d taken uses, want 5", e.Spent)
	}
}

// TestResumeCountsOwnedUsesOnce: Resume does not subtract uses of transactions from the uses that
// it returns.
func TestResumeCountsOwnedUsesOnce(t *testing.T) {
	l := payFor(t)
	e := gaussianEvent(12)
	if _, err := l.Reserve("steps", e, 3); err != nil {
		t.Fatal(err)
	}
	own := must(l.ReserveAll(ledger.Transaction{ID: "a",
		Lines: []ledger.Line{{Purpose: "steps", Event: e, Count: 5, Taken: 2}}}))(t)
	for taken := 2; taken < 6; taken++ {
		r, err := l.Resume("steps", e)
		if err != nil {
			t.Fatalf("after %d uses of the transaction: %v", taken, err)
		}
		if n := r.Remaining(); n != 3 {
			t.Errorf("after %d uses of the transaction Resume returns %d uses, want 3", taken, n)
		}
		if taken < 5 {
			spend(t, own[0], 1)
		}
	}
}
