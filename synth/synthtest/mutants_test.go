package synthtest

import (
	"encoding/json"
	"testing"
)

// TestMutantsAreSpread: 100 mutants of a document with 900 pairs of a value and a replacement
// change every value once, and use every replacement at least eleven times. All are changed.
func TestMutantsAreSpread(t *testing.T) {
	var list [100]string
	file := text(t, list)
	values, replacements := map[int]int{}, map[string]int{}
	for _, m := range mutants(t, file, 100) {
		var got []json.RawMessage
		if err := json.Unmarshal(m, &got); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if string(v) != `""` {
				values[i]++
				replacements[string(v)]++
			}
		}
	}
	if len(values) != 100 || len(replacements) != 9 {
		t.Errorf("%d values of 100 and %d replacements of 9 occur", len(values), len(replacements))
	}
	for v, n := range replacements {
		if n < 11 {
			t.Errorf("the replacement %s occurs %d times, want at least 11", v, n)
		}
	}
}
