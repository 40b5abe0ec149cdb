package accountant_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestUnit: whose presence is protected is said in the guarantee, survives saving, and a merge
// claims no more than its weakest part.
func TestUnit(t *testing.T) {
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	users, rows := accountant.NewLedger(budget, accountant.WithUnit("user"), nil),
		accountant.NewLedger(budget)
	if g := users.Guarantee(); g.Unit != "user" || !strings.Contains(g.String(), "one user") ||
		rows.Guarantee().Unit != "record" {
		t.Errorf("units %q and %q", g.Unit, rows.Guarantee().Unit)
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
		t.Errorf("read back %v, unit %q", err, back.Unit())
	}
	for want, parts := range map[string][]*accountant.Ledger{
		"user":   {users, back},
		"record": {users, rows},
	} {
		if m, err := accountant.Merge(budget, parts...); err != nil || m.Unit() != want {
			t.Errorf("merged: %v, unit %q, want %q", err, m.Unit(), want)
		}
		if m, err := accountant.MergeDisjoint(budget, "shards", parts...); err != nil ||
			m.Unit() != want {
			t.Errorf("merged shards: %v, unit %q, want %q", err, m.Unit(), want)
		}
	}
	if m, err := accountant.Merge(budget, rows, users); err != nil || m.Unit() != "record" {
		t.Errorf("merged: %v, unit %q", err, m.Unit())
	}
	children, err := users.Disjoint("parts", 2)
	if err != nil || children[1].Unit() != "user" || children[1].Guarantee().Unit != "user" {
		t.Errorf("children: %v", err)
	}
}
