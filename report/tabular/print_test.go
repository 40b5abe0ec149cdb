package tabular

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestResultsAreMarked checks that the text and the JSON of results state that they are not
// private, also inside lists. An undefined score must not be an error.
func TestResultsAreMarked(t *testing.T) {
	q := Quality{Shapes: []Shape{{"age", "KSComplement", 0.9}}, Score: 0.5,
		Pairs: []Pair{{Columns: [2]string{"a", "b"}, Score: math.NaN(), Real: math.Inf(1)}}}
	h := Histogram{Column: "age", Number: true, Shares: []Share{{From: 1, To: 2, Part: 0.25}},
		HasMissing: true, Missing: 0.75}
	for _, v := range []any{q, &q, q.Shapes[0], q.Pairs[0], h, q.Shapes, []Quality{q}} {
		if text := fmt.Sprint(v); !strings.Contains(text, "[not private]") {
			t.Errorf("%T prints as %s", v, text)
		}
		text, err := json.Marshal(v)
		if err != nil || !strings.Contains(string(text), `"private":false`) {
			t.Errorf("%T as JSON: %s, %v", v, text, err)
		}
	}
	for text, want := range map[string]string{q.String(): "0.5000",
		q.Shapes[0].String(): "age: 0.9000", h.String(): "1 to 2: 0.2500 missing: 0.7500"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %s", text, want)
		}
	}
	text, err := json.Marshal([]Quality{q})
	if err != nil || !strings.Contains(string(text), `"private":false`) ||
		!strings.Contains(string(text), `"Score":0.9`) || !strings.Contains(string(text), `"Real":null`) {
		t.Errorf("%s, %v", text, err)
	}
}
