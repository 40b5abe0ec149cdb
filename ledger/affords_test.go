package ledger_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestAffordsAnswersAsReserveWould: Affords gives the same answer as Reserve and reserves nothing.
// The ledgers are a plain ledger, a ledger with a filter, a child ledger and a ledger with an
// invalid budget.
func TestAffordsAnswersAsReserveWould(t *testing.T) {
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	child := func() *ledger.Ledger {
		parent := ledger.New(budget)
		if err := parent.Spend("before", accountant.Gaussian{NoiseMultiplier: 8}); err != nil {
			t.Fatal(err)
		}
		parts := must(parent.Disjoint(ledger.Parts{Purpose: "halves", N: 2}))(t)
		return parts[0]
	}
	for name, open := range map[string]func() *ledger.Ledger{
		"plain": func() *ledger.Ledger { return ledger.New(budget) },
		"filter": func() *ledger.Ledger {
			return ledger.New(budget, ledger.WithFilter(30))
		},
		"child": child,
		"fault": func() *ledger.Ledger { return ledger.New(accountant.Budget{}) },
	} {
		yes, no := 0, 0
		for z := 2.0; z < 12; z *= 1.1 {
			e := accountant.Composed{Events: []accountant.Event{accountant.Gaussian{NoiseMultiplier: z},
				accountant.Laplace{Scale: 40}}}
			ledger := open()
			before := len(ledger.Entries())
			asked := ledger.Affords(using(e))
			if len(ledger.Entries()) != before {
				t.Fatalf("%s: Affords has reserved something", name)
			}
			_, reserved := ledger.Reserve("all", e, 1)
			if (asked == nil) != (reserved == nil) ||
				errors.Is(asked, accountant.ErrBudgetExceeded) !=
					errors.Is(reserved, accountant.ErrBudgetExceeded) {
				t.Errorf("%s: noise %.3g: Affords returns %v, Reserve returns %v", name, z, asked, reserved)
			}
			if asked == nil {
				yes++
			} else {
				no++
			}
		}
		if no == 0 || yes == 0 && name != "fault" {
			t.Errorf("%s: %d events fit and %d do not, want some of each", name, yes, no)
		}
	}
	var wrong *param.Error
	for _, e := range []accountant.Event{nil, accountant.Gaussian{}} {
		if err := ledger.New(budget).Affords(using(e)); !errors.As(err, &wrong) {
			t.Errorf("Affords(%v): got %v, want a *param.Error", e, err)
		}
	}
}

func using(e accountant.Event) ledger.Transaction {
	return ledger.Transaction{Lines: []ledger.Line{{Purpose: "use", Event: e, Count: 1}}}
}

// TestAffordsSeveralTransactions: transactions fit only if all of them fit together, those in
// groups of parts included. One that the ledger holds needs nothing more.
func TestAffordsSeveralTransactions(t *testing.T) {
	alone := using(accountant.Gaussian{NoiseMultiplier: 5}) // ε = 0.77 at δ = 1e-5
	parts := ledger.Transaction{ID: "parts", Groups: []ledger.Parts{{Purpose: "halves", N: 2}}}
	for part := range 2 {
		parts.Lines = append(parts.Lines, ledger.Line{Purpose: "half", Count: 1, Group: 1, Part: part,
			Event: accountant.Gaussian{NoiseMultiplier: 5}})
	}
	other := ledger.Transaction{ID: "other", Lines: parts.Lines,
		Groups: []ledger.Parts{{Purpose: "thirds", N: 3}}}
	other.Lines = append(other.Lines[:2:2], other.Lines[1])
	other.Lines[2].Part = 2
	l := ledger.New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	if err := l.Affords(parts); err != nil {
		t.Errorf("one transaction: %v", err)
	}
	for _, list := range [][]ledger.Transaction{{alone, alone}, {parts, other}, {alone, parts}} {
		if err := l.Affords(list...); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("two transactions: got %v, want ErrBudgetExceeded", err)
		}
	}
	if _, err := l.ReserveAll(parts); err != nil {
		t.Fatal(err)
	}
	if err := l.Affords(parts, parts); err != nil {
		t.Errorf("a transaction that the ledger holds: %v", err)
	}
	if err := l.Affords(parts, alone); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a held and a new transaction: got %v, want ErrBudgetExceeded", err)
	}
}
