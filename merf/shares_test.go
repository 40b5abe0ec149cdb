package merf

import (
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// TestPersonsAreMeansOfTheirRows: the sums of two persons are those of their rows as records,
// weighted by their shares, and each counts 1, for features that are listed and for others, on the
// host and on a device.
func TestPersonsAreMeansOfTheirRows(t *testing.T) {
	table, err := records.NewSchema(records.Numeric("x", 0, 1),
		records.Categorical("c", "a", "b", "d"),
		records.Label("y", "p", "q"))
	if err != nil {
		t.Fatal(err)
	}
	list := [][]any{{0.25, "a", "p"}, {1, "b", "q"}, {0, "d", "q"}, {0.5, "b", "p"}}
	flat, labels := []float32{1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1}, []int32{0, 1, 1, 0}
	rows := func(lo, hi int) records.Data {
		d, err := records.FromValues(table, list[lo:hi]...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	vectors := func(lo, hi int) records.Data {
		d, err := records.FromFlat(records.Binary(3).WithLabels("p", "q"), flat[3*lo:3*hi],
			labels[lo:hi]...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, c := range map[string]struct {
		data   func(lo, hi int) records.Data
		kernel rff.EmbeddingKernel
	}{"listed": {rows, rff.Pairs{}}, "dense": {rows, rff.RBF{Dim: 8, Bandwidth: 1}},
		"vectors": {vectors, rff.RBF{Dim: 8, Bandwidth: 1}}} {
		persons, err := records.GroupBy(c.data(0, 4), []int{7, 7, 7, 8}, 3)
		if err != nil {
			t.Fatal(err)
		}
		config := Config{Schema: persons.Schema(), Kernel: c.kernel,
			Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}
		p, err := config.Plan()
		if err != nil {
			t.Fatal(err)
		}
		for _, be := range []device.Backend{device.CPU(), devicetest.SeparateMemory(device.CPU())} {
			sums := func(d records.Data) (features, counts []float64) {
				counter := p.work.newCounter(be)
				if err := counter.Add(t.Context(), d); err != nil {
					t.Fatal(err)
				}
				list := counter.Sums()
				for i, s := range list {
					for _, v := range s.Exact() {
						x := float64(v) * s.Grid()
						if i == 0 {
							features = append(features, x)
						} else {
							counts = append(counts, x)
						}
					}
				}
				return features, counts
			}
			got, counts := sums(persons)
			want, wanted := make([]float64, len(got)), make([]float64, len(counts))
			for row := range 4 {
				one, n := sums(c.data(row, row+1))
				share := float64(persons.Share(row))
				for i, x := range one {
					want[i] += share * x
				}
				for i, x := range n {
					wanted[i] += share * x
				}
			}
			norm := 0.0
			for i, x := range got {
				if norm += x * x; math.Abs(x-want[i]) > 1e-5 {
					t.Fatalf("%s: feature %d of two persons is %v, want %v", name, i, x, want[i])
				}
			}
			if bound := 2 * p.work.features.NormBound(); !(norm > 0) || math.Sqrt(norm) > bound {
				t.Errorf("%s: two persons add a vector of norm %v, want at most %v", name, math.Sqrt(norm),
					bound)
			}
			if !slices.Equal(counts, wanted) || counts[0]+counts[1] != 2 {
				t.Errorf("%s: the counts of two persons are %v, want %v", name, counts, wanted)
			}
		}
	}
}
