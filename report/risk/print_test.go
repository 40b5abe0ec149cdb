package risk

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestResultsAreMarked checks that the text and the JSON of a result contain its numbers and state
// that it is not private.
func TestResultsAreMarked(t *testing.T) {
	c := Closest{Members: []float64{3, 1, 2}, Others: []float64{4, 1}, CloserToMembers: 0.5}
	a := Attack{Name: "distance", Members: 9, Others: 8, AUC: 0.625}
	for _, v := range []any{c, a, []Attack{a}, &c} {
		text, err := json.Marshal(v)
		if printed := fmt.Sprint(v); !strings.Contains(printed, "[not private]") || err != nil ||
			!strings.Contains(string(text), `"private":false`) {
			t.Errorf("%T: %s, %s, %v", v, printed, text, err)
		}
	}
	if got := c.String(); !strings.Contains(got, "2.0000 to members, 2.5000 to others; 0.5000 of 3") {
		t.Error(got)
	}
	if got := a.String(); !strings.Contains(got, "9 members and 8 others: AUC 0.6250") {
		t.Error(got)
	}
	if (Closest{}).String() == "" {
		t.Error("the zero value prints nothing")
	}
}
