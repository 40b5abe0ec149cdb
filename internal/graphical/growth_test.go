package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGrowthIsFits compares Growth with the cliques that eliminated returns, for random groups of
// up to 64 attributes. Both orders must have exactly the same number of cells, and Fits must agree
// at this number and just below it.
func TestGrowthIsFits(t *testing.T) {
	rng, finite := rand.New(rand.NewPCG(1, 2)), map[int]int{}
	for _, n := range []int{3, 8, 30, 63, 64} {
		for range 60 {
			d := make(Domain, n)
			for a := range d {
				d[a] = 2 + rng.IntN(12)
			}
			groups := make([][]int, rng.IntN(2*n))
			for i := range groups {
				groups[i] = someOf(rng, n, 1+rng.IntN(3))
			}
			g, group := NewGrowth(d, groups), someOf(rng, n, 2+rng.IntN(2))
			with := append(slices.Clone(groups), group)
			for _, fill := range []bool{false, true} {
				want := cellsOf(d, eliminated(d, with, fill))
				got := g.cells(group, fill, math.Inf(1))
				if want > endless { // then of one clique
					if !(got > endless) {
						t.Fatalf("%d attributes, fill %v: %v cells, want more than 2^30", n, fill, got)
					}
					continue
				}
				if finite[n]++; got != want {
					t.Fatalf("%d attributes, fill %v: %v cells, want %v", n, fill, got, want)
				}
				for _, limit := range []float64{want, math.Nextafter(want, 0), want / 2} {
					if got := g.Fits(group, limit); got != Fits(d, with, limit) {
						t.Fatalf("%d attributes, limit %v of %v: Fits is %v", n, limit, want, got)
					}
				}
			}
		}
		if finite[n] < 40 {
			t.Errorf("%d attributes: only %d trees of 120 have a size", n, finite[n])
		}
	}
}

// someOf returns a group of random attributes.
func someOf(rng *rand.Rand, n, size int) []int {
	group := rng.Perm(n)[:size]
	slices.Sort(group)
	return group
}

func BenchmarkFits(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	d, groups := make(Domain, 30), make([][]int, 90)
	for a := range d {
		d[a] = 12
	}
	for i := range groups {
		a := rng.IntN(28)
		groups[i] = []int{a, a + 1, min(a+2+rng.IntN(2), 29)}
		groups[i] = slices.Compact(groups[i])
	}
	g := NewGrowth(d, groups)
	for name, limit := range map[string]float64{"small limit": 1e5, "no limit": math.Inf(1)} {
		b.Run("list, "+name, func(b *testing.B) {
			for b.Loop() {
				Fits(d, append(slices.Clone(groups), []int{3, 8, 20}), limit)
			}
		})
		b.Run("growth, "+name, func(b *testing.B) {
			for b.Loop() {
				g.Fits([]int{3, 8, 20}, limit)
			}
		})
	}
}
