package pld

import (
	"math"
	"testing"
)

// twoLosses returns the pair in which P has mass p at loss a and the rest at a loss of −b, with b.
func twoLosses(p, a float64) (*Discrete, float64) {
	b := math.Log((1 - p*math.Exp(-a)) / (1 - p))
	return NewDiscrete([]float64{-b, a}, []float64{1 - p, p}, 0, 0), b
}

// TestNormalBoundsContainSums: the bounds by the normal approximation contain δ of many uses of two
// losses, which is a sum over a binomial number of losses of one kind. The sums are nearly normal,
// skewed, or nearly Poisson.
func TestNormalBoundsContainSums(t *testing.T) {
	narrow := 0
	for _, c := range []struct {
		p, a float64
		n    int
	}{{0.501, 0.004, 40000}, {0.1, 0.02, 40000}, {0.001, 0.5, 40000}, {1e-4, 1, 50000},
		{0.5, 1e-3, 400000}} {
		pair, b := twoLosses(c.p, c.a)
		n := float64(c.n)
		exact := func(eps float64) float64 {
			all, _ := math.Lgamma(n + 1)
			sum := 0.0
			for k := 0.0; k <= n; k++ {
				loss := k*c.a - (n-k)*b
				if loss <= eps {
					continue
				}
				x, _ := math.Lgamma(k + 1)
				y, _ := math.Lgamma(n - k + 1)
				sum += math.Exp(all-x-y+k*math.Log(c.p)+(n-k)*math.Log1p(-c.p)) * -math.Expm1(eps-loss)
			}
			return sum
		}
		for _, eps := range []float64{0.3, 1, 3, 6} {
			want := exact(eps)
			if !(want > 1e-30) {
				continue
			}
			for _, theta := range []float64{0.5, 3, 10} {
				q := question{pairs: []Pair{pair}, n: []int{c.n}, total: n, eps: eps, byEps: true, lower: true}
				a := q.byNormal(&workspace{}, theta, Answer{Upper: 1})
				if !(a.Lower <= want*(1+1e-7) && want*(1-1e-7) <= a.Upper) {
					t.Errorf("%+v θ=%g: δ(%g) is in %+v, want %g", c, theta, eps, a, want)
				}
				if a.Upper < 1.1*a.Lower {
					narrow++
				}
				q = question{pairs: []Pair{pair}, n: []int{c.n}, total: n, delta: want, lower: true}
				a = q.byNormal(&workspace{}, theta, Answer{Upper: 2 * eps})
				if !(a.Lower <= eps*(1+1e-7) && eps*(1-1e-7) <= a.Upper) {
					t.Errorf("%+v θ=%g: ε at δ=%g is in %+v, want %g", c, theta, want, a, eps)
				}
			}
		}
	}
	if narrow < 5 {
		t.Errorf("%d narrow brackets", narrow)
	}
}

// TestNormalBoundsOfInfiniteLosses: δ is at least the probability that one of the uses has an
// infinite loss, and that much larger than with finite losses only.
func TestNormalBoundsOfInfiniteLosses(t *testing.T) {
	const n, p, a, inf = 40000, 0.501, 0.004, 1e-7
	finite, b := twoLosses(p, a)
	some := NewDiscrete([]float64{-b, a}, []float64{(1 - p) * (1 - inf), p * (1 - inf)}, inf, 0)
	ask := func(pair Pair, eps, delta float64) Answer {
		q := question{pairs: []Pair{pair}, n: []int{n}, total: n, eps: eps, byEps: delta == 0,
			delta: delta, lower: true}
		return q.byNormal(&workspace{}, 3, Answer{Upper: map[bool]float64{true: 1, false: 20}[q.byEps]})
	}
	least := -math.Expm1(n * math.Log1p(-inf))
	for _, eps := range []float64{0.3, 1, 3, 6} {
		without, with := ask(finite, eps, 0), ask(some, eps, 0)
		if !(with.Upper >= least+0.99*without.Lower && with.Upper < without.Upper+1.01*least) {
			t.Errorf("δ(%g) is in %+v, and %+v without infinite losses of probability %g", eps, with, without,
				least)
		}
	}
	if with := ask(some, 0, 0.9*least); with.Upper < 20 {
		t.Errorf("ε at δ = %g is in %+v, and losses are infinite with probability %g", 0.9*least, with,
			least)
	}
}

// TestNormalBoundsAgreeWithGrids: no lower end is above an upper end, and brackets are narrow where
// grids are too coarse.
func TestNormalBoundsAgreeWithGrids(t *testing.T) {
	d := newDraws(6)
	for i := range 24 {
		rate, mu := d.between(1e-4, 0.5), d.between(0.05, 1)
		steps, delta := int(d.between(2e4, 1e6)), d.between(1e-30, 1e-3)
		pair := []Pair{NewSampled(rate, Gauss{mu}), NewGlued(rate, mu), Opposite{rate, mu}}[i%3]
		q := question{pairs: []Pair{pair}, n: []int{steps}, total: float64(steps), delta: delta,
			lower: true}
		var w workspace
		s := newSketch(q.n, q.pairs, q.tailMass())
		grid := q.solve(&w, 1)
		theta := q.aim(&s).theta
		a := q.byNormal(&w, theta, Answer{Upper: 3 * grid.Upper})
		if !grid.OK || a.Lower > grid.Upper || grid.Lower > a.Upper {
			t.Errorf("%T q=%g μ=%g T=%d δ=%g: %+v by a grid, %+v by moments", pair, rate, mu, steps, delta,
				grid, a)
		}
	}
	q := question{pairs: []Pair{NewSampled(1e-4, Gauss{0.5})}, n: []int{1e8}, total: 1e8, delta: 1e-12,
		lower: true}
	if a := q.solve(&workspace{}, 1); !(a.Lower > 3 && a.Upper < 1.003*a.Lower) {
		t.Errorf("1e8 steps: %+v", a)
	}
}
