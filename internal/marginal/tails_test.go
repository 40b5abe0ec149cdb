package marginal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// exponential returns counts of n records with noise, exponential with the given mean in codes,
// from the first code or, mirrored, from the last, and what a code holds without noise.
func exponential(a Attribute, rng *rand.Rand, n, noise, mean float64, mirrored bool) (counts,
	exact []float64) {
	counts, exact = make([]float64, a.Codes), make([]float64, a.Codes)
	for code := 1; code < a.Codes-1; code++ {
		at := code
		if mirrored {
			at = a.Codes - 1 - code
		}
		exact[at] = n * (math.Exp(-float64(code-1)/mean) - math.Exp(-float64(code)/mean))
		counts[at] = exact[at] + noise*rng.NormFloat64()
	}
	return counts, exact
}

func numbers(t *testing.T) Attribute {
	t.Helper()
	s, err := records.NewSchema(records.Numeric("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	return AttributesOf(s)[0]
}

// TestEndGroupsThinOut releases the counts of an exponential column with much noise, one bound of
// which is far beyond its values. The noise of a hundred empty codes must neither be records far
// out nor decide how many records the end has.
func TestEndGroupsThinOut(t *testing.T) {
	a := numbers(t)
	const n, noise, mean, trials = 10_000.0, 30.0, 6.0, 40
	for _, mirrored := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(1, 2))
		var off, offBefore, held, far float64
		for range trials {
			counts, exact := exponential(a, rng, n, noise, mean, mirrored)
			before := slices.Clone(counts)
			g := Surveyed{Counts: [][]float64{counts}, Noise: []float64{noise}, Total: n}.Grouping(0, a, 12)
			last := a.Codes - 1
			if mirrored {
				last = 0
			}
			own, raw, mass, distance := 0.0, 0.0, 0.0, 0.0
			for k := range a.Codes {
				code := last - k
				if mirrored {
					code = k
				}
				if g.Group[code] != g.Group[last] {
					far += mass*float64(k) - distance // from the end's first code
					break
				}
				own, raw = own+g.Part[code]*n-exact[code], raw+before[code]-exact[code]
				mass, distance = mass+g.Part[code]*n, distance+g.Part[code]*n*float64(k+1)
			}
			held += mass
			off, offBefore = off+own*own/trials, offBefore+raw*raw/trials
		}
		if off, offBefore = math.Sqrt(off), math.Sqrt(offBefore); !(off < .7*offBefore) {
			t.Errorf("an end has %.0f records too many or too few, its sum of counts %.0f", off, offBefore)
		}
		if far /= held; !(far < 2.5*mean) {
			t.Errorf("an end's records are %.1f codes after its start, want about %v", far, mean)
		}
	}
}

// TestHumpsOfEndsStay: an end keeps its counts if their sum clearly exceeds the fitted density,
// although no single count does.
func TestHumpsOfEndsStay(t *testing.T) {
	const noise = 30
	for _, hump := range []float64{0, 40} {
		counts, e := make([]float64, 104), end{beside: 4}
		for code := range counts {
			if e.codes = append(e.codes, code); code < 4 {
				counts[code] = 200
			} else if code >= 60 && code < 90 {
				counts[code] = hump
			}
		}
		e.fit(counts, noise)
		if stays := counts[75] == hump && counts[4] == 0; stays != (hump > 0) {
			t.Errorf("a hump of 30·%v records: %v becomes %v", hump, hump, counts[75])
		}
	}
}

// TestFrequentCodesOfEndGroupsStay: a code far out with 400 records, thirteen standard deviations
// of its noise, keeps them. The others near it are thinned out.
func TestFrequentCodesOfEndGroupsStay(t *testing.T) {
	a := numbers(t)
	const n, noise, mean, far = 10_000.0, 30.0, 6.0, 100
	rng := rand.New(rand.NewPCG(3, 4))
	counts, _ := exponential(a, rng, n, noise, mean, false)
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
