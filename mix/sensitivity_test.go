package mix

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// contribution returns the vector that a run adds to the sum of a mixture for one record: the
// clipped features and the scaled label.
func contribution(c Config, x []float32, label int) []float64 {
	g := c.geometry()
	shorten(x, g.clip)
	out := make([]float64, len(x)+max(c.labels(), 1))
	for j, v := range x {
		out[j] = float64(v)
	}
	if c.ByClass {
		label = 0
	}
	if c.labels() > 0 {
		out[len(x)+label] = g.label
	}
	return out
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

// extreme draws a record: with probability one half a corner of the domain, otherwise a point
// inside it.
func extreme(rng *rand.Rand, s records.Schema) []float32 {
	x := make([]float32, s.Dim())
	corner := rng.IntN(2) == 0
	for j := range x {
		x[j] = rng.Float32()*4 - 2
		if corner {
			x[j] = float32(rng.IntN(3)-1) * 1e20
		}
	}
	s.Clamp(x)
	return x
}

// TestSensitivityBruteForce checks the declared effect of a release. No record may be longer, and
// no two records may be farther apart. Some records must come close to it.
func TestSensitivityBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range []records.Schema{records.Interval(2, -1, 1).WithLabels("a", "b"),
		records.Image(1,
			2).WithLabels("a", "b"), records.Binary(3)} {
		for _, byClass := range []bool{false, s.Classes() > 0} {
			c := Config{Schema: s, ClipNorm: 0.9, ByClass: byClass,
				Sampling: Poisson{Nominal: 10, Degree: 1}}
			t.Run(fmt.Sprint(s, " by class ", byClass), func(t *testing.T) {
				g := c.geometry()
				longest, farthest := 0.0, 0.0
				for range 4000 {
					a := contribution(c, extreme(rng, s), rng.IntN(2)*max(s.Classes()-1, 0))
					b := contribution(c, extreme(rng, s), rng.IntN(2)*max(s.Classes()-1, 0))
					longest = max(longest, distance(a, make([]float64, len(a))))
					farthest = max(farthest, distance(a, b))
				}
				for relation, found := range map[accountant.Relation]float64{accountant.AddOrRemoveOne: longest,
					accountant.ReplaceOne: farthest} {
					declared := g.effect(relation, 1)
					if found > declared {
						t.Errorf("%v: distance %v, declared %v", relation, found, declared)
					}
					if found < 0.9*declared && !byClass { // the label is the same within a class
						t.Errorf("%v: largest distance %v, declared %v: the test has little power", relation,
							found, declared)
					}
				}
			})
		}
	}
}

// TestMovedFeaturesMayBeOpposite checks the declared effect on features that a projection or a
// centre has moved: two of them may be opposite, although no coordinate of a record is negative.
func TestMovedFeaturesMayBeOpposite(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := records.Image(3, 3)
	var flat []float32
	for range 400 {
		flat = append(flat, extreme(rng, s)...)
	}
	table, err := records.FromFlat(s, flat)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Schema: s, ClipNorm: 0.9, Sampling: PoissonReplaceOne{Records: 10, Degree: 1}}
	projected, centred := c, c
	projected.Projection = Projection{Dim: 1, Seed: 2}
	centred.Centers = Centers{Share: 0.1, ClipNorm: 0.1}
	for name, c := range map[string]Config{"projected": projected, "centred": centred} {
		in := newSource(c, table)
		if c.Centers.wanted() {
			in.centers = [][]float32{slices.Repeat([]float32{0.2}, s.Dim())}
		}
		var rows [][]float32
		in.reader().each(0, in.parts[0], func(_ int32, x []float32) {
			rows = append(rows, append([]float32(nil), x...))
		})
		farthest := 0.0
		for _, a := range rows {
			for _, b := range rows {
				d := 0.0
				for j := range a {
					d += float64(a[j]-b[j]) * float64(a[j]-b[j])
				}
				farthest = max(farthest, math.Sqrt(d))
			}
		}
		if most := c.geometry().swap(); farthest > most || farthest < 0.9*most {
			t.Errorf("%s: the largest distance is %v, declared %v", name, farthest, most)
		}
	}
}

// TestCenterSensitivityBruteForce checks the declared sensitivity of sums and counts of disjoint
// parts.
func TestCenterSensitivityBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, s := range []records.Schema{records.Interval(2, -1, 1).WithLabels("a", "b"),
		records.Image(1,
			2).WithLabels("a", "b")} {
		c := Config{Schema: s, ClipNorm: 0.9, ByClass: true, Centers: Centers{Share: 0.1, ClipNorm: 1},
			Sampling: Poisson{Nominal: 10, Degree: 1}}
		g := c.centerGeometry()
		add := func() []float64 { // the contribution of one record to the sums and counts
			out := make([]float64, 2*(s.Dim()+1))
			x, part := extreme(rng, s), rng.IntN(2)
			shorten(x, c.ClipNorm)
			for j, v := range x {
				out[part*(s.Dim()+1)+j] = float64(v)
			}
			out[part*(s.Dim()+1)+s.Dim()] = g.label
			return out
		}
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			found := 0.0
			for range 4000 {
				a, b := add(), make([]float64, 2*(s.Dim()+1))
				if r == accountant.ReplaceOne {
					b = add()
				}
				found = max(found, distance(a, b))
			}
			if declared := g.centerSensitivity(r); found > declared || found < 0.9*declared {
				t.Errorf("%v, %v: largest distance %v, declared %v", s, r, found, declared)
			}
		}
	}
}

// TestBestLabelShare checks that no other label share leaves less noise in X' − M·Y'.
func TestBestLabelShare(t *testing.T) {
	residual := func(share float64, d, k int) float64 {
		l := labelLength(1, share)
		return (1 + l*l) * (float64(d) + float64(k)/l/l)
	}
	for _, size := range [][2]int{{784, 10}, {5, 2}, {20, 1}} {
		d, k := size[0], size[1]
		best := residual(bestLabelShare(d, k), d, k)
		for share := 0.01; share < 1; share += 0.01 {
			if residual(share, d, k) < best*(1-1e-12) {
				t.Errorf("%d features, %d classes: share %.2f leaves less noise than %.3f", d, k, share,
					bestLabelShare(d, k))
			}
		}
	}
}
