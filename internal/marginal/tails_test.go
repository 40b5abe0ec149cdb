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

// TestFrequentCodesOfEndGroupsStay: a code far out with 400 records, thirteen standard deviations
// of its noise, keeps them. The others near it are thinned out.
func TestFrequentCodesOfEndGroupsStay(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	a := AttributesOf(s)[0]
	const n, noise, mean, far = 10_000.0, 30.0, 6.0, 100
	rng := rand.New(rand.NewPCG(3, 4))
	counts := make([]float64, a.Codes)
	for code := 1; code < a.Codes-1; code++ {
		counts[code] = n*(math.Exp(-float64(code-1)/mean)-math.Exp(-float64(code)/mean)) +
			noise*rng.NormFloat64()
	}
	counts[far] = 400
	g := Surveyed{Counts: [][]float64{counts}, Noise: []float64{noise}, Total: n}.Grouping(0, a, 12)
	if g.Group[far] != g.Group[a.Codes-1] {
		t.Fatal("the code is in no end group: the test has no power")
	}
	if g.Part[far]*n < 300 || g.Part[far-5]*n > 5 {
		t.Errorf("%.0f records at the frequent code and %.1f near it, want about 400 and 0",
			g.Part[far]*n, g.Part[far-5]*n)
	}
}

// TestGroupsOfTargetsExceedTheirNoise: every group of a number to be predicted has the fraction
// least·√c for its c codes. Other numbers have smaller groups of as many codes.
func TestGroupsOfTargetsExceedTheirNoise(t *testing.T) {
	const least = 0.02
	smallest := func(c records.Column) float64 {
		s, err := records.NewSchema(c, records.Flag("f", "a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		a := AttributesOf(s)[0]
		part := make([]float64, a.Codes)
		for code := range part {
			part[code] = 1 / float64(a.Codes)
		}
		held, codes := map[uint16]float64{}, map[uint16]float64{}
		for code, group := range a.Grouped(part, least, 40).Group {
			held[group] += part[code]
			codes[group]++
		}
		worst := 1.0
		for group, f := range held {
			worst = min(worst, f/(least*math.Sqrt(codes[group])))
		}
		return worst
	}
	if r := smallest(records.Target("t", 0, 1)); r < 1 {
		t.Errorf("a group of the target has %.2f of what its noise demands", r)
	}
	if r := smallest(records.Numeric("x", 0, 1)); r >= 1 {
		t.Errorf("groups of another number have %.2f: the test has no power", r)
	}
}
