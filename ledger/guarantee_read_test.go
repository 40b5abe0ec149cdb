package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestReadGuaranteesArePricedAgain: a guarantee that is read equals the one that was written, and a
// text that states less than its entries cost, or words that no ledger writes, is refused.
func TestReadGuaranteesArePricedAgain(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 8, Delta: 1e-5}, WithUnit("user"))
	if err := l.Spend("counts", accountant.Gaussian{NoiseMultiplier: 3}); err != nil {
		t.Fatal(err)
	}
	for k := range 3 { // a record may be in other parts of the second group
		parts, err := l.Disjoint(Parts{Purpose: "clusters", N: 3})
		if err != nil {
			t.Fatal(err)
		}
		inner, err := parts[2].Disjoint(Parts{Purpose: "classes, of a cluster", N: 2})
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range append(parts[k:2:2], inner...) { // the groups use different parts
			if err := part.Spend("sums", accountant.Gaussian{NoiseMultiplier: 2 + float64(i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	written := l.Guarantee()
	written.RowsPerUnit = 7 // as a run sets it
	written.Kept = &Kept{"a store", "people", "1", Position{3, strings.Repeat("0", hashLength)}}
	text, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	var read Guarantee
	if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, written) {
		t.Fatalf("%v: got\n%v\nwant\n%v", err, read, written)
	}
	for name, change := range map[string]func(g map[string]any){
		"a lower ε":     func(g map[string]any) { g["epsilon"], g["lower"] = 0.01, 0.01 },
		"no entries":    func(g map[string]any) { g["entries"] = []any{} },
		"no delta":      func(g map[string]any) { g["delta"] = 0 },
		"another unit":  func(g map[string]any) { g["unit"] = "planet" },
		"rows":          func(g map[string]any) { g["rows_per_unit"] = -5 },
		"rows of none":  func(g map[string]any) { g["unit"], g["rows_per_unit"] = "record", 5 },
		"perfect noise": func(g map[string]any) { g["noise_class"] = []any{"perfect"} },
		"no uses": func(g map[string]any) {
			g["entries"].([]any)[0].(map[string]any)["reserved"] = 0
		},
		"more uses": func(g map[string]any) { // than ε covers
			g["entries"].([]any)[0].(map[string]any)["reserved"] = 900
		},
		"another event": func(g map[string]any) {
			g["entries"].([]any)[0].(map[string]any)["event"] = map[string]any{"kind": "nothing"}
		},
		"two keys": func(g map[string]any) { g["Epsilon"] = 9 },
		"too many parts": func(g map[string]any) {
			g["parts"].([]any)[0].(map[string]any)["n"] = 1<<16 + 1
		},
		"parts without end": func(g map[string]any) { // their sum would overflow
			const n = 1 << 17
			g["parts"] = []any{Parts{N: 1}, Parts{Purpose: "b", N: math.MaxInt}, Parts{Purpose: "c", N: n}}
			g["entries"].([]any)[0].(map[string]any)["purpose"] = fmt.Sprintf("c, part 1 of %d: s", n)
			g["entries"] = g["entries"].([]any)[:1]
		},
		"undeclared parts": func(g map[string]any) { g["parts"] = []any{} },
		"parts twice": func(g map[string]any) {
			g["parts"] = append(g["parts"].([]any), g["parts"].([]any)[0])
		},
	} {
		var g map[string]any
		if err := json.Unmarshal(text, &g); err != nil {
			t.Fatal(err)
		}
		change(g)
		hostile, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(hostile, &read) == nil {
			t.Errorf("%s: read as\n%v", name, read)
		}
	}
	words := strings.NewReplacer(`"description":"`, `"description":"a noise multiplier of 1000, not `,
		`"not_covered":["`, `"not_covered":["nothing, or `, `"samplers":["`, `"samplers":["none, or `,
		`"accountant":"`, `"accountant":"perfect: `).Replace(string(text))
	if err := json.Unmarshal([]byte(words), &read); err != nil || !reflect.DeepEqual(read, written) {
		t.Errorf("%v: words of the text are believed:\n%v", err, read)
	}
}

// TestPurposesNameNoParts: a purpose that reads like an entry of a part is refused, since a
// guarantee that is read would price it as one.
func TestPurposesNameNoParts(t *testing.T) {
	const purpose = "clusters, part 1 of 2: sums"
	l := New(accountant.Budget{Epsilon: 8, Delta: 1e-5})
	e := accountant.Gaussian{NoiseMultiplier: 9}
	if parts, err := l.Disjoint(Parts{Purpose: "clusters", N: 2}); err != nil ||
		parts[1].Spend("sums", e) != nil {
		t.Fatal(err)
	}
	for _, like := range []string{"clusters, part 1 of 2", "clusters, part +1 of 2: sums"} {
		if err := l.Spend(like, e); err != nil {
			t.Errorf("%s: %v", like, err)
		}
	}
	written, read := l.Guarantee(), Guarantee{}
	text, err := json.Marshal(written)
	if err := errors.Join(err, json.Unmarshal(text, &read)); err != nil ||
		!reflect.DeepEqual(read, written) {
		t.Errorf("%v: got\n%v\nwant\n%v", err, read, written)
	}
	_, parts := l.Disjoint(Parts{Purpose: purpose, N: 2})
	_, all := l.ReserveAll(Transaction{Lines: []Line{{Purpose: purpose, Event: e, Count: 1}}})
	saved, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	_, old := Unmarshal([]byte(strings.ReplaceAll(string(saved), "clusters, part 1 of 2\"",
		purpose+"\"")))
	const later = purpose + ", part 99999999999999999999 of 3: z"
	for name, err := range map[string]error{"use": l.Spend(purpose, e), "parts": parts, "lines": all,
		"saved": old, "a number that is too large": l.Spend(later, e)} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestReadGuaranteesAtTheirLimits: a text may state the least ε that its entries can cost, and as
// many parts as a ledger has, and nothing beyond either.
func TestReadGuaranteesAtTheirLimits(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 8, Delta: 1e-5})
	for _, group := range []string{"a", "b"} {
		parts := must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: group, N: 1}))
		if err := parts[0].Spend("x", accountant.Gaussian{NoiseMultiplier: 3}); err != nil {
			t.Fatal(err)
		}
	}
	text := must[[]byte](t)(json.Marshal(l.Guarantee()))
	read := func(change func(g map[string]any)) error {
		var g map[string]any
		if err := json.Unmarshal(text, &g); err != nil {
			t.Fatal(err)
		}
		change(g)
		return json.Unmarshal(must[[]byte](t)(json.Marshal(g)), new(Guarantee))
	}
	for part, good := range map[float64]bool{1: true, 1 - 1e-8: false, 1 - 1e-4: false} {
		if err := read(func(g map[string]any) {
			g["epsilon"] = l.Guarantee().Lower * part
		}); (err == nil) != good {
			t.Errorf("%v of the least ε: %v", part, err)
		}
	}
	for _, part := range []string{"0", "2", "01"} { // none of the parts
		if err := read(func(g map[string]any) {
			e := g["entries"].([]any)[0].(map[string]any)
			e["purpose"] = "a, part " + part + " of 1: x"
		}); err == nil {
			t.Errorf("part %s of 1 is read", part)
		}
	}
	for more, good := range map[int]bool{0: true, 1: false} {
		if err := read(func(g map[string]any) {
			g["parts"].([]any)[0].(map[string]any)["n"] = maxParts - 1 + more
			e := g["entries"].([]any)[0].(map[string]any)
			e["purpose"] = fmt.Sprintf("a, part 1 of %d: x", maxParts-1+more)
		}); (err == nil) != good {
			t.Errorf("%d parts more than a ledger may have: %v", more, err)
		}
	}
}

// TestEntriesOfPartsAreCountedWhole: the texts of entries that a ledger counts before it reserves
// are not shorter than those of its guarantee, however deep its parts are.
func TestEntriesOfPartsAreCountedWhole(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 8, Delta: 1e-5})
	at := l
	for depth := range 4 {
		purpose := strings.Repeat("p", 100*(depth+1))
		at = must[[]*Ledger](t)(at.Disjoint(Parts{Purpose: purpose, N: 1234}))[1233]
		if err := at.Spend("use", accountant.Gaussian{NoiseMultiplier: 30}); err != nil {
			t.Fatal(err)
		}
	}
	counted, entries := []int(nil), l.Guarantee().Entries
	l.eachPart(0, func(purpose int, key string) {
		if key != "" {
			counted = append(counted, purpose)
		}
	})
	for i, e := range entries {
		if len(counted) != len(entries) || counted[i] < len(e.Purpose) ||
			counted[i] > len(e.Purpose)+32*4 {
			t.Errorf("entry %d has a purpose of %d bytes, and %v are counted", i, len(e.Purpose), counted)
		}
	}
}
