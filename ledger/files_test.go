package ledger

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// changed saves a ledger, applies a change to its JSON and returns the result.
func changed(t *testing.T, l *Ledger, change func(doc map[string]any)) []byte {
	t.Helper()
	var doc map[string]any
	d := json.NewDecoder(strings.NewReader(string(must[[]byte](t)(json.Marshal(l)))))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	change(doc)
	return must[[]byte](t)(json.Marshal(doc))
}

// object follows keys and indices into a JSON document.
func object(v any, path ...any) map[string]any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v.(map[string]any)
}

// TestLedgerFilesHaveNoUnknownFields: unknown fields are refused at every depth of a saved
// ledger.
func TestLedgerFilesHaveNoUnknownFields(t *testing.T) {
	l := kept(t)
	if _, err := Unmarshal(changed(t, l, func(map[string]any) {})); err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]any{
		{},
		{"budget"},
		{"entries", 0},
		{"entries", 0, "event"},
		{"entries", 0, "event", "event"},
		{"parts", 1},
		{"parts", 1, "ledgers", 0},
		{"parts", 1, "ledgers", 1, "entries", 0},
		{"transactions", 0},
		{"transactions", 0, "lines", 0},
		{"transactions", 0, "lines", 0, "event"},
	} {
		bad := changed(t, l, func(doc map[string]any) { object(doc, path...)["surplus"] = 1 })
		if _, err := Unmarshal(bad); err == nil {
			t.Errorf("an unknown field is accepted at %v", path)
		}
	}
}

// TestLedgerFilesGivePartsNoBudget: a part must have the budget of its ledger.
func TestLedgerFilesGivePartsNoBudget(t *testing.T) {
	for name, change := range map[string]func(part map[string]any){
		"ε":        func(p map[string]any) { object(p, "budget")["epsilon"] = 4 },
		"δ":        func(p map[string]any) { object(p, "budget")["delta"] = 1e-3 },
		"relation": func(p map[string]any) { object(p, "budget")["relation"] = "replace_one" },
		"filter":   func(p map[string]any) { p["filter_order"] = 12 },
		"version":  func(p map[string]any) { p["version"] = 1 },
		"reason":   func(p map[string]any) { p["not_private"] = "a test" },
		"unit":     func(p map[string]any) { p["unit"] = "user" },
	} {
		bad := changed(t, kept(t), func(doc map[string]any) {
			change(object(doc, "parts", 1, "ledgers", 1))
		})
		if _, err := Unmarshal(bad); err == nil || !strings.Contains(err.Error(), "budget") {
			t.Errorf("%s: a part with another budget: got %v, want an error about the budget", name, err)
		}
	}
}

// TestLedgerFilesSayThatSpendingBegan: after a ledger with a taken use is read back, new
// reservations are late.
func TestLedgerFilesSayThatSpendingBegan(t *testing.T) {
	for _, spends := range []int{0, 1} {
		l := New(accountant.Budget{Epsilon: 3, Delta: 1e-5})
		r := must[*Reservation](t)(l.Reserve("first", step, 2))
		for range spends {
			if err := r.Spend(); err != nil {
				t.Fatal(err)
			}
		}
		back := must[*Ledger](t)(Unmarshal(must[[]byte](t)(json.Marshal(l))))
		must[*Reservation](t)(back.Reserve("second", accountant.Gaussian{NoiseMultiplier: 50}, 1))
		entries := back.Entries()
		if entries[0].Late || entries[1].Late != (spends > 0) {
			t.Errorf("after %d uses: %+v", spends, entries)
		}
	}
}

// TestLedgerFilesHoldTransactionsUses checks that a file is refused in three cases: its entries do
// not hold all uses of its transactions, counts overflow, or uses of a transaction were taken
// outside it.
func TestLedgerFilesHoldTransactionsUses(t *testing.T) {
	for name, change := range map[string]func(doc map[string]any){
		"wraps": func(doc map[string]any) {
			object(doc, "transactions", 0, "lines", 1)["reserved"] = math.MaxInt
		},
		"spent wraps": func(doc map[string]any) {
			line := object(doc, "transactions", 0, "lines", 1)
			line["reserved"], line["spent"] = math.MaxInt, math.MaxInt
		},
		"taken by others": func(doc map[string]any) {
			object(doc, "entries", 0)["spent"] = 14 + 6
		},
	} {
		if _, err := Unmarshal(changed(t, kept(t), change)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	fits := changed(t, kept(t), func(doc map[string]any) {
		object(doc, "entries", 0)["spent"] = 14 + 5
	})
	if _, err := Unmarshal(fits); err != nil {
		t.Error(err)
	}
}

// TestSavedLedgersKeepTheirLines: what is being written without the lock does not change
// when another goroutine reserves.
func TestSavedLedgersKeepTheirLines(t *testing.T) {
	l := must[*Ledger](t)(Memory().Create(t.Context(), "a",
		Terms{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}))
	e := accountant.Gaussian{NoiseMultiplier: 100}
	must[*Reservation](t)(l.Reserve("a", e, 1))
	s := must[savedLedger](t)(l.snapshot())
	before := *s.Entries[0].Lines
	must[*Reservation](t)(l.Reserve("a", e, 1))
	if now := *s.Entries[0].Lines; now != before {
		t.Errorf("got %v after a reservation, want %v", now, before)
	}
}
