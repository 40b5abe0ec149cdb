package mix

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// TestCentersAreMeans checks that mean records are clamped to the bounds of the records but not
// rounded, even if the records' coordinates are 0 or 1.
func TestCentersAreMeans(t *testing.T) {
	for _, s := range []records.Schema{records.Binary(3), records.BinaryImage(1, 3),
		records.Image(1, 3), records.Interval(3, 0, 1)} {
		c := Config{Schema: s, ClipNorm: 2}
		const count, label, std = 1000, 0.5, 1
		got := c.center([]float64{0.3 * count, -20, 1.2 * count, count * label}, label, std)
		for j, want := range []float64{0.3, 0, 1} {
			if math.Abs(float64(got[j])-want) > 1e-6 {
				t.Errorf("%v: got mean %v, want 0.3, 0 and 1", s, got)
			}
		}
	}
}

// TestPersonsCountOnceInCenters checks that all rows of a person together add no more to the sums
// and counts of centres than the sensitivity states. Equal rows must add as much.
func TestPersonsCountOnceInCenters(t *testing.T) {
	s := records.Image(1, 2)
	c := Config{Schema: s.ByPerson(3), ClipNorm: 0.9, Centers: Centers{Share: 0.1, ClipNorm: 1},
		Sampling: Poisson{Nominal: 10, Degree: 1}}
	g := c.centerGeometry()
	for name, flat := range map[string][]float32{"one row": {1, 1}, "two equal rows": {1, 1, 1, 1},
		"three rows": {1, 0, 1, 1, 0, 0.5}} {
		rows, err := records.FromFlat(s, flat)
		if err != nil {
			t.Fatal(err)
		}
		persons, err := records.GroupBy(rows, make([]int, rows.Len()), 3)
		if err != nil {
			t.Fatal(err)
		}
		sum := mechanism.NewFixedSum(s.Dim()+1, 0x1p-30)
		newSource(c, persons).sums(g, sum)
		square := 0.0
		for _, v := range sum.Exact() {
			square += float64(v) * float64(v) * 0x1p-60
		}
		most := g.centerSensitivity(accountant.AddOrRemoveOne)
		if n := math.Sqrt(square); n > most || name != "three rows" && n < most*(1-1e-5) {
			t.Errorf("%s: a person adds a norm of %v, want at most %v", name, n, most)
		}
	}
}
