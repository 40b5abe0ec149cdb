package marginal

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestCellsOfWholeNumbers checks that a number drawn for a cell decodes to one of the cell's
// values, and that a condition allows each of the cell's values equally.
func TestCellsOfWholeNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ hi, cells int }{{26, 24}, {30, 24}, {73, 24}, {99, 35}, {127, 125},
		{1000, 8}, {1 << 19, 24}} {
		column := records.Integer("n", 0, c.hi)
		s, err := records.NewSchema(column, records.Flag("f", "a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		a := AttributesIn(s, c.cells)[0]
		of := func(v int) int {
			return a.code([]int32{0}, []float32{float32(float64(v) / float64(c.hi))}, 0)
		}
		counts := map[int]int{}
		values := min(c.hi, 1001)
		for v := range values {
			counts[of(v)]++
		}
		for v := 1; v < min(values, c.hi-1); v++ {
			code := of(v)
			for range 20 {
				f, err := records.DecodeFlat(s, []float32{a.draw(code, nil, rng), 0})
				if err != nil {
					t.Fatal(err)
				}
				if drawn := int(f.Number(0, 0)); of(drawn) != code {
					t.Fatalf("0 to %d in %d cells: drew %d from cell %d, but it is in cell %d", c.hi, c.cells,
						drawn, code, of(drawn))
				}
			}
			if c.hi > 1000 {
				continue
			}
			half := 0.5 / float64(c.hi)
			x := float64(v) / float64(c.hi)
			span := records.Span{Lo: float32(x - half), Hi: float32(x + half)}
			only := records.Condition{Spans: []records.Span{span}}
			if got, want := a.Allowed(code, only), 1/float64(counts[code]); math.Abs(got-want) > 1e-3 {
				t.Fatalf("0 to %d in %d cells: %d is the fraction %v of its cell, want %v", c.hi, c.cells, v, got,
					want)
			}
		}
	}
}

// TestMostCellsAreUnchanged checks that generators with MostCells cells, which earlier versions
// have stored, draw a number uniformly from its cell.
func TestMostCellsAreUnchanged(t *testing.T) {
	for _, hi := range []int{200, 1 << 21} {
		s, err := records.NewSchema(records.Integer("n", 0, hi), records.Flag("f", "a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		a := AttributesOf(s)[0]
		for code := 1; code <= MostCells; code++ {
			from, to := a.ends(code)
			if from != float64(code-1)/126 || to != float64(code)/126 {
				t.Fatalf("cell %d of [0, %d]: got [%v, %v]", code, hi, from, to)
			}
		}
	}
}
