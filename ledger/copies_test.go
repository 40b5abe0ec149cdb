package ledger_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestCopiesAreTheSameLedger: copies of the struct, of ledgers and of parts, in memory and in
// files, spend one budget, and all state the same guarantee, also if a copy is put back.
func TestCopiesAreTheSameLedger(t *testing.T) {
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	dir, err := ledger.NewStore(ledger.Dir(t.TempDir())).Create(t.Context(), "people",
		ledger.Terms{Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	parts, err := ledger.New(budget).Disjoint(ledger.Parts{Purpose: "halves", N: 2})
	if err != nil {
		t.Fatal(err)
	}
	use := accountant.Pure{Epsilon: 0.3}
	for name, l := range map[string]*ledger.Ledger{"memory": ledger.New(budget), "folder": dir,
		"part": parts[0]} {
		before := *l
		granted := 0
		for i := range 8 {
			c := before
			var err error
			switch i % 4 {
			case 0:
				err = c.Spend("a", use)
			case 1:
				_, err = c.Reserve("a", use, 1)
			case 2:
				_, err = c.ReserveAll(ledger.Transaction{Lines: []ledger.Line{
					{Purpose: "b", Event: use, Count: 1}}})
			case 3: // put back
				*l = before
				err = l.Spend("c", use)
			}
			if err == nil {
				granted++
			} else if !errors.Is(err, accountant.ErrBudgetExceeded) {
				t.Error(name, err)
			}
		}
		if granted != 3 {
			t.Errorf("%s: %d of 3 uses are granted", name, granted)
		}
		if e := before.Epsilon(); e != l.Epsilon() || e.Upper < 0.89 {
			t.Errorf("%s: a copy has ε = %v, the ledger %v", name, e, l.Epsilon())
		}
		text, err := json.Marshal(&before)
		if whole, _ := json.Marshal(l); err != nil || string(text) != string(whole) {
			t.Errorf("%s: a copy is written as %s, %v", name, text, err)
		}
		if name != "part" && before.Guarantee().Epsilon < 0.89 {
			t.Errorf("%s: a copy guarantees ε = %v", name, before.Guarantee().Epsilon)
		}
		if len(before.Entries()) != len(l.Entries()) || before.EpsilonSoFar() != l.EpsilonSoFar() {
			t.Errorf("%s: a copy has other entries", name)
		}
	}
}

// TestPackageJSONMakesNoLedger: json.Unmarshal would make a ledger that holds nothing, and whose
// methods panic.
func TestPackageJSONMakesNoLedger(t *testing.T) {
	saved := must(ledger.New(accountant.Budget{Epsilon: 1, Delta: 1e-5}).MarshalJSON())(t)
	var held struct{ Of *ledger.Ledger }
	for text, into := range map[string]any{string(saved): new(ledger.Ledger),
		`{"of":` + string(saved) + `}`: &held} {
		err := json.Unmarshal([]byte(text), into)
		if wrong := new(param.Error); !errors.As(err, &wrong) {
			t.Errorf("%.20s: got error %v, want a *param.Error", text, err)
		}
	}
}
