package pld

import (
	"math"
	"slices"
	"testing"
)

// TestBlendsAreMixtures: every mass of a blend, also beyond the first and the last node, is that of
// its pairs in proportion, and its errors are no smaller than theirs.
func TestBlendsAreMixtures(t *testing.T) {
	const share = 0.3
	pairs := []Pair{Gauss{0.5}, Gauss{2}, NewSampled(0.3, Gauss{1}), NewGlued(0.2, 1)}
	masses := func(c *cells) []float64 {
		return slices.Concat(c.e, c.d, []float64{c.lowP, c.lowD, c.topE, c.topQ})
	}
	errors := func(c *cells) []float64 { return append(slices.Clone(c.err), c.lowErr, c.topErr) }
	for _, nodes := range [][]float64{{-1, 0.1, 0.4, 2}, {0.3}} {
		for i, a := range pairs {
			for j, b := range pairs {
				var of, other, got cells
				a.cut(nodes, &of)
				b.cut(nodes, &other)
				NewBlend(share, a, b).cut(nodes, &got)
				for k, v := range masses(&got) {
					want := share*masses(&of)[k] + (1-share)*masses(&other)[k]
					if math.Abs(v-want) > 1e-14*want {
						t.Errorf("pairs %d and %d at %v: mass %d is %v, want %v", i, j, nodes, k, v, want)
					}
				}
				for k, v := range errors(&got) {
					if least := share*errors(&of)[k] + (1-share)*errors(&other)[k]; !(v >= least) {
						t.Errorf("pairs %d and %d at %v: error %d is %v, want %v or more", i, j, nodes, k, v, least)
					}
				}
			}
		}
	}
}
