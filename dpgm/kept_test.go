package dpgm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestRestoreDependsOnTheCoordinate checks frequencies without noise of records that were scaled
// down. An item in most records is also in most small ones, so one correction for all items makes
// its frequency far too large. The seed is fixed.
func TestRestoreDependsOnTheCoordinate(t *testing.T) {
	const n, dim = 20000, 200
	rng := rand.New(rand.NewPCG(8, 9))
	schema := records.Sets(dim, 60)
	m := marginalSums{Marginals: Marginals{ClipNorm: math.Sqrt(3)}, schema: schema, k: 1,
		bins: newSizeBins(schema)}
	truth, scaled := make([]float64, dim), make([]float64, dim)
	sizes := make([]float64, len(m.bins))
	whole, kept := 0.0, 0.0
	for range n {
		items := []int(nil)
		more := []float64{0.2, 0.5, 1, 2}[rng.IntN(4)]
		for j := range dim {
			p := 5.0 / dim
			if j < 3 {
				p = 0.4
			}
			if odds := p / (1 - p) * more; rng.Float64() < odds/(1+odds) {
				items = append(items, j)
			}
		}
		sizes[m.bins.of(len(items))] += 1.0 / n
		for _, j := range items {
			truth[j] += 1.0 / n
			scaled[j] += m.scale(len(items)) / n
		}
		whole += float64(len(items))
		kept += float64(len(items)) * m.scale(len(items))
	}
	average := scaled[0] * whole / kept
	if average < 1.05*truth[0] {
		t.Errorf("one correction for all items gives %.4f, and the truth is %.4f: the test has no power",
			average, truth[0])
	}
	m.restore(scaled, sizes)
	total, gap := 0.0, 0.0
	for j, f := range scaled {
		if j < 3 && math.Abs(f-truth[j]) > 0.01*truth[j] {
			t.Errorf("item %d has frequency %.4f, want %.4f", j, f, truth[j])
		}
		total += truth[j]
		gap += f
	}
	if math.Abs(gap-total) > 0.01*total {
		t.Errorf("records have %.3f items on average, want %.3f", gap, total)
	}
}

// TestRestoreOfEveryInput checks that corrected frequencies are in [0, 1].
func TestRestoreOfEveryInput(t *testing.T) {
	schema := records.Sets(4, 4)
	m := marginalSums{Marginals: Marginals{ClipNorm: 1}, schema: schema, k: 1,
		bins: newSizeBins(schema)}
	for _, sizes := range [][]float64{{1, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {0, 0, 1, 0, 0},
		{0.5, 0.4, 0.1, 0, 0}, {0, 0, 0, 0, 0}} {
		for _, f := range [][]float64{{0, 0, 0, 0}, {1, 1, 1, 1}, {1, 0, 0, 0}, {1e-300, 1, 0.5, 0}} {
			got := append([]float64(nil), f...)
			m.restore(got, sizes)
			for j, v := range got {
				if !(v >= 0 && v <= 1) || f[j] == 0 && v != 0 {
					t.Errorf("sizes %v: frequency %v of %v was restored to %v", sizes, f[j], f, v)
				}
			}
		}
	}
}
