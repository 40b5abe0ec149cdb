package pld

import (
	"math"
	"testing"
)

// TestMomentBound: the bound by moments is above the value of the closed form, but not far above
// it. Mass at infinite loss counts in full.
func TestMomentBound(t *testing.T) {
	d := newDraws(61)
	var w workspace
	for range 40 {
		mu, n := d.between(0.01, 1), int(d.between(1, 300))
		all := mu * math.Sqrt(float64(n))
		eps := all*all/2 + d.between(0.5, 5)*all
		truth := GaussianDelta(all, eps)
		q := question{pairs: []Pair{Gauss{mu}}, n: []int{n}, total: float64(n), eps: eps, byEps: true}
		if a := q.quickly(&w); !a.OK || a.Upper < truth || a.Upper > 30*truth+1e-13 {
			t.Errorf("μ=%g n=%d: δ(%g) = %g, want a slightly larger bound, got %+v", mu, n, eps, truth, a)
		}
		if truth < 1e-12 {
			continue
		}
		q = question{pairs: q.pairs, n: q.n, total: q.total, delta: truth}
		if a := q.quickly(&w); !a.OK || a.Upper < eps || a.Upper > 1.5*eps+1 {
			t.Errorf("μ=%g n=%d: ε(%g) = %g, want a slightly larger bound, got %+v", mu, n, truth, eps, a)
		}
	}
	const lost = 1e-3
	high := (1 - lost) / (1 + math.Exp(-0.1))
	p := NewSymmetric([]float64{-0.1, 0.1}, []float64{1 - lost - high, high}, lost)
	q := question{pairs: []Pair{p}, n: []int{10}, total: 10, eps: 0.99, byEps: true}
	if a := q.quickly(&w); a.Upper < 1-math.Pow(1-lost, 10) {
		t.Errorf("with infinite losses: got bound %+v, want at least 1 − 0.999^10", a)
	}
}
