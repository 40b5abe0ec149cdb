package records_test

import (
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestTextsOfAMissingValue: a schema says which texts of a column mean a missing value, in its JSON
// too, and the first one is written.
func TestTextsOfAMissingValue(t *testing.T) {
	s := must(records.NewSchema(records.Integer("a", 0, 9).WithMissing().WithAlias("", "N/A", "-"),
		records.Categorical("b", "x", "y", "z").WithMissing().WithAlias("", "none")))(t)
	var back records.Schema
	if err := back.UnmarshalJSON(must(s.MarshalJSON())(t)); err != nil || !back.Equal(s) {
		t.Fatalf("%v, %v", back, err)
	}
	c := records.CSV{Header: true, Strays: func(int, string, string) { t.Error("a stray") }}
	f := must(c.ReadFrame(strings.NewReader("a,b\nN/A,none\n-,x\n,\n7,z\n"), back))(t)
	var out strings.Builder
	if err := c.WriteFrame(&out, f); err != nil {
		t.Fatal(err)
	}
	if want := "a,b\n-,none\n-,x\n-,none\n7,z\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if _, err := records.NewSchema(records.Integer("a", 0, 9).WithAlias("", "-")); err == nil {
		t.Error("a text of a missing value without one is accepted")
	}
}
