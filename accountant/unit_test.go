package accountant_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// TestUnit: the guarantee names the protected unit, and the unit is saved. Ledgers of different
// units are not merged, because a guarantee for users is weaker for a single row of a user.
func TestUnit(t *testing.T) {
	other := accountant.NewLedger(accountant.Budget{Epsilon: 1, Delta: 1e-5},
		accountant.WithUnit("household"))
	if err := other.Spend("counts", accountant.Gaussian{NoiseMultiplier: 9}); err == nil {
		t.Error("a ledger of households, whose guarantee cannot be read, pays")
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	users, rows := accountant.NewLedger(budget, accountant.WithUnit("user"), nil),
		accountant.NewLedger(budget)
	if g := users.Guarantee(); g.Unit != "user" ||
		!strings.Contains(g.String(), "unit         one user") ||
		!strings.Contains(g.String(), "by the presence of one user") ||
		rows.Guarantee().Unit != "record" {
		t.Errorf("got units %q and %q, want user and record", g.Unit, rows.Guarantee().Unit)
	}
	if err := users.Spend("x", accountant.Gaussian{NoiseMultiplier: 20}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(users)
	if err != nil {
		t.Fatal(err)
	}
	back, err := accountant.UnmarshalLedger(text)
	if err != nil || back.Unit() != "user" {
		t.Errorf("read back: %v, unit %q, want user", err, back.Unit())
	}
	if m, err := accountant.Merge(budget, users, back); err != nil || m.Unit() != "user" {
		t.Errorf("merged: %v, unit %q", err, m.Unit())
	}
	for _, parts := range [][]*accountant.Ledger{{users, rows}, {rows, users}, {users, back, rows}} {
		var wrong *param.Error
		if m, err := accountant.Merge(budget, parts...); !errors.As(err, &wrong) {
			t.Errorf("users and records are merged: %v, %v", m, err)
		}
	}
	children, err := users.Disjoint(accountant.Parts{Purpose: "parts", N: 2})
	if err != nil || children[1].Unit() != "user" || children[1].Guarantee().Unit != "user" {
		t.Errorf("children: %v", err)
	}
}
