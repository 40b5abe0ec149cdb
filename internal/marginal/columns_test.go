package marginal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestCodesOfSomeColumns checks that an attribute has the same codes beside all attributes of its
// schema and beside some of them.
func TestCodesOfSomeColumns(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("colour", "red", "green", "blue"),
		records.Numeric("gap", -1, 1).WithMissing(), records.Flag("old", "no", "yes").WithMissing(),
		records.Integer("age", 0, 99).WithMissing(), records.Ordinal("size", "s", "m", "l"),
		records.Numeric("amount", 0, 1e6), records.Label("class", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	one := func(of ...any) any { return of[rng.IntN(len(of))] }
	var rows [][]any
	for range 300 {
		rows = append(rows, []any{one("red", "green", "blue"), one(nil, 2*rng.Float64()-1),
			one(nil, "no", "yes"), one(nil, rng.IntN(100)), one("s", "m", "l"), 1e6 * rng.Float64(),
			one("a", "b")})
	}
	data, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	var z records.Nonzeros
	z.Range(data, 0, data.Len())
	all := AttributesOf(s)
	want := make([][]uint16, len(all))
	CodesOf(all, &z, want)
	for chosen := range 1 << len(all) {
		var some []Attribute
		var codes [][]uint16
		for j := range all {
			if chosen>>j&1 > 0 {
				some, codes = append(some, all[j]), append(codes, want[j])
			}
		}
		got := make([][]uint16, len(some))
		CodesOf(some, &z, got)
		for j := range some {
			if !slices.Equal(got[j], codes[j]) {
				t.Fatalf("columns %b: codes %v of %+v, want %v", chosen, got[j][:9], some[j], codes[j][:9])
			}
		}
	}
}
