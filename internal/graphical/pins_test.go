package graphical

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/internal/pins"
)

// TestPins holds models, what is drawn from them, and fits to measurements to the bits that they
// had.
func TestPins(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 77))
			m := random(rng)
			n := len(m.Domain)
			parts := map[string][]byte{}
			add := func(name string, values ...any) { parts[name] = fmt.Appendln(parts[name], values...) }
			add("tree", m.Tree, Parts(n, [][]int{{0, 1}, {2, 3}, {1, 2}}))
			for a := range n {
				add("marginals", m.Marginal([]int{a}))
				weights := make([]float64, m.Domain[a])
				for v := range weights {
					weights[v] = float64(1 - v%2)
				}
				given, p := m.Given(Observation([]int{a}, weights))
				add("given", p, given.Marginal([]int{(a + 1) % n}))
				for i := range weights {
					weights[i] = rng.Float64()
				}
				weighted, p := m.Given(Observation([]int{a}, weights))
				add("weighted", p, weighted.Marginal([]int{(a + 1) % n}))
				for b := range a {
					group := []int{b, a}
					add("fits", m.Domain.Cells(group), Cells(m.Domain, [][]int{group, {0, n - 1}}),
						Fits(m.Domain, [][]int{group, {0, n - 1}}, 40), m.Tree.Holder(m.Domain, group),
						NewReach(m.Domain, m.Tree).Fits(group, 50),
						NewGrowth(m.Domain, [][]int{{0, 1}}).Fits(group, 30))
				}
			}
			add("drawn", m.Drawer().Draw(rng, 30))
			for first := 1; first < n; first++ {
				row, c := make([]uint16, n), m.Completer(first)
				for range 5 {
					for a := range first {
						row[a] = uint16(rng.IntN(m.Domain[a]))
					}
					c.Complete(rng, row)
					add("completed", row)
				}
			}
			var list []Measurement
			for a := range n - 1 {
				values := make([]float64, int(m.Domain.Cells([]int{a, a + 1})))
				for i := range values {
					values[i] = 30*rng.Float64() - 2
				}
				list = append(list, Measurement{Attributes: []int{a, a + 1}, Values: values,
					Std: 1 + rng.Float64()})
			}
			whole := m.Extended([]int{0, 1}, []int{n - 2, n - 1})
			add("fitted", whole.Fit(t.Context(), list[:1], 200, 40))
			for _, f := range whole.Factors {
				add("fitted", f)
			}
			near := NewModel(m.Domain, nil).Extended([]int{0, 1}, []int{1, 2}, []int{3, 4})
			inside, err := near.FitNear(t.Context(), list[1:2], 150, 30, []int{1, 2})
			add("near", inside, err)
			for _, f := range near.Factors {
				add("near", f)
			}
			cells, merged := []float64{1, 2, 3, 4}, make([]float64, 2)
			Merge(merged, cells, []int32{0, 1, 1, 0})
			add("merged", merged)
			pins.Check(t, parts)
		})
	}
}
