package marginal

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestEndGroupsThinOut releases the counts of an exponential column with much noise, whose upper
// bound is far beyond its values. On average the last group's records must not be far out, where
// the noisy counts put them, and no group may gain or lose records.
func TestEndGroupsThinOut(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	a := AttributesOf(s)[0]
	const n, noise, mean = 10_000.0, 30.0, 6.0 // in codes
	rng := rand.New(rand.NewPCG(1, 2))
	out, outBefore := 0.0, 0.0
	for range 20 {
		counts := make([]float64, a.Codes)
		for code := 1; code < a.Codes-1; code++ {
			counts[code] = n*(math.Exp(-float64(code-1)/mean)-math.Exp(-float64(code)/mean)) +
				noise*rng.NormFloat64()
		}
		k := Surveyed{Counts: [][]float64{counts}, Noise: []float64{noise}, Total: n}
		before := a.Grouped(Simplex(counts, n), leastGroup*noise/n, 12)
		g := k.Grouping(0, a, 12)
		if g.Size != before.Size || g.Size < 5 {
			t.Fatalf("%d groups, before %d", g.Size, before.Size)
		}
		held, far, farBefore := make([]float64, g.Size), 0.0, 0.0
		last := g.Group[a.Codes-1]
		for code, group := range g.Group {
			held[group] += g.Part[code] - before.Part[code]
			if group == last {
				far += g.Part[code] * float64(code)
				farBefore += before.Part[code] * float64(code)
			}
		}
		for group, off := range held {
			if math.Abs(off) > 1e-9 {
				t.Errorf("group %d has %v records more", group, off*n)
			}
		}
		mass, start := 0.0, 0
		for code := a.Codes - 1; code >= 0 && g.Group[code] == last; code-- {
			mass, start = mass+g.Part[code], code
		}
		out, outBefore = out+far/mass-float64(start), outBefore+farBefore/mass-float64(start)
	}
	if out/20 > 18 || outBefore/20 < 25 {
		t.Errorf("the last group's records are %.1f codes after its start, before %.1f; want about %v",
			out/20, outBefore/20, mean)
	}
}
