package ledger_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestUnit: the guarantee names the protected unit, and the unit is saved. Ledgers of different
// units are not merged, because a guarantee for users is weaker for a single row of a user.
func TestUnit(t *testing.T) {
	other := ledger.New(accountant.Budget{Epsilon: 1, Delta: 1e-5},
		ledger.WithUnit("household"))
	if err := other.Spend("counts", accountant.Gaussian{NoiseMultiplier: 9}); err == nil {
		t.Error("a ledger of households, whose guarantee cannot be read, pays")
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	users, rows := ledger.New(budget, ledger.WithUnit("user"), nil),
		ledger.New(budget)
	if g := users.Guarantee(); g.Unit != "user" ||
		!strings.Contains(g.String(), "unit         one user") ||
		!strings.Contains(g.String(), "by the presence of one user") ||
		rows.Guarantee().Unit != "record" {
		t.Errorf("got units %q and %q, want user and record", g.Unit, rows.Guarantee().Unit)
	}
	if err := users.Spend("x", accountant.Gaussian{NoiseMultiplier: 20}); err != nil {
		t.Fatal(err)
	}
	text := must(json.Marshal(users))(t)
	back, err := ledger.Unmarshal(text)
	if err != nil || back.Unit() != "user" {
		t.Errorf("read back: %v, unit %q, want user", err, back.Unit())
	}
	children, err := users.Disjoint(ledger.Parts{Purpose: "parts", N: 2})
	if err != nil || children[1].Unit() != "user" || children[1].Guarantee().Unit != "user" {
		t.Errorf("children: %v", err)
	}
}
