package system

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

var budget = accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: accountant.AddOrRemoveOne}

func TestChecksOfALedger(t *testing.T) {
	l := accountant.NewLedger(budget, accountant.WithUnit("user"))
	for want, err := range map[string]error{
		"":                   errors.Join(CheckLedger("p", l, budget.Relation), CheckUnit("p", l, "user")),
		"a ledger":           CheckLedger("p", nil, budget.Relation),
		"the plan's":         CheckLedger("p", l, accountant.ReplaceOne),
		"one user a row, as": CheckUnit("p", l, records.UnitRecord),
	} {
		var p *param.Error
		if want == "" && err == nil {
			continue
		}
		if !errors.As(err, &p) || p.Path != "p" || !strings.Contains(p.Want, want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestAffordableCountsWhatChildrenHold: a ledger without lines of its own may have children that have reserved.
func TestAffordableCountsWhatChildrenHold(t *testing.T) {
	spends := func(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} }
	l := accountant.NewLedger(budget)
	if err := Affordable("s", l, spends(5)); err != nil {
		t.Errorf("a fresh ledger: %v", err)
	}
	children, err := l.Disjoint("halves", 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := children[0].Reserve("mine", spends(5), 1); err != nil {
		t.Fatal(err)
	}
	if err := Affordable("s", l, spends(5)); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("beside a child that has reserved the like: %v", err)
	}
	if err := Affordable("s", l, spends(500)); err != nil {
		t.Errorf("little beside it: %v", err)
	}
}

// TestAffordableAsksTheLedger: a filter and a child answer as they will decide, though they hold nothing yet and have the
// plan's own budget.
func TestAffordableAsksTheLedger(t *testing.T) {
	total := accountant.Gaussian{NoiseMultiplier: 4}
	if err := Affordable("s", accountant.NewLedger(budget), total); err != nil {
		t.Fatal(err)
	}
	if err := Affordable("s", accountant.NewLedger(budget, accountant.WithFilter(1.5)), total); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a filter of an order at which it does not fit: %v", err)
	}
	parent := accountant.NewLedger(budget)
	if err := parent.Spend("before", total); err != nil {
		t.Fatal(err)
	}
	children, err := parent.Disjoint("halves", 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := Affordable("s", children[0], total); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a child of a parent that has spent: %v", err)
	}
}
