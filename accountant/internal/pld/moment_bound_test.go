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

// TestInfiniteLossesOfManyUses: every use may have an infinite loss. No answer is below δ, or ε, of
// a binomial number of finite losses and the chance of an infinite one, and no divergence is
// finite.
func TestInfiniteLossesOfManyUses(t *testing.T) {
	const p, a, lost = 0.3, 0.2, 1e-4
	_, b := twoLosses(p, a)
	pair := NewDiscrete([]float64{-b, a}, []float64{(1 - p) * (1 - lost), p * (1 - lost)}, lost, 0)
	if d, ok := Renyi(pair, 2); ok {
		t.Errorf("with infinite losses the divergence is %g", d)
	}
	var w workspace
	for _, n := range []int{1, 2, 9, 60} {
		least := -math.Expm1(float64(n) * math.Log1p(-lost)) // of an infinite loss
		exact := func(eps float64) float64 {
			sum, chance := 0.0, math.Pow(1-p, float64(n))
			for k := range n + 1 {
				if loss := float64(k)*a - float64(n-k)*b; loss > eps {
					sum += chance * -math.Expm1(eps-loss)
				}
				chance *= float64(n-k) / float64(k+1) * p / (1 - p)
			}
			return least + (1-least)*sum
		}
		for _, f := range []float64{0.1, 0.5, 0.9, 0.99} {
			eps := f * float64(n) * a
			q := question{pairs: []Pair{pair}, n: []int{n}, total: float64(n), eps: eps, byEps: true,
				lower: true}
			for what, got := range map[string]Answer{"quickly": q.quickly(&w), "by a grid": q.solve(&w, 1)} {
				if want := exact(eps); got.OK && !(got.Upper >= want*(1-1e-9) && got.Lower <= want*(1+1e-9)) {
					t.Errorf("%d uses, %s: δ(%g) is in %+v, want %g", n, what, eps, got, want)
				}
			}
			q = question{pairs: q.pairs, n: q.n, total: q.total, delta: exact(eps), lower: true}
			for what, got := range map[string]Answer{"quickly": q.quickly(&w), "by a grid": q.solve(&w, 1)} {
				if got.OK && !(got.Upper >= eps*(1-1e-6) && got.Lower <= eps*(1+1e-6)) {
					t.Errorf("%d uses, %s: ε(%g) is in %+v, want %g", n, what, q.delta, got, eps)
				}
			}
		}
	}
}
