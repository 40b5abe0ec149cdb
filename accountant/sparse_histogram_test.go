package accountant

import (
	"math"
	"testing"
)

// TestScratch
func TestScratch(t *testing.T) {
	for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
		for _, k := range []int{1, 2, 5} {
			e := SparseHistogram{Sigma: 10, Threshold: 50, Cells: k}
			a := sparseAtom{e, k}
			if r == ReplaceOne {
				a.changed = 2 * k
			}
			for _, eps := range []float64{0, 0.01, .1, .3, .5, 1, 2} {
				want := 0.0
				for m := 0; m <= k; m++ {
					d := a.alone(m)
					g := 0.0
					if m < a.changed {
						g = deltaG(a.effect(m), eps)
					}
					if m == 0 {
						d = 0
					}
					want = math.Max(want, d+(1-d)*g)
				}
				b, err := Delta(e, eps, r)
				t.Log(r, k, eps, b, want, err, b.Upper/want)
			}
		}
	}
	p, err := Epsilon(Composed{[]Event{SparseHistogram{20, 1 + 20*5, 1}, Gaussian{4.5}}}, 1e-6, AddOrRemoveOne)
	t.Log(p, err)
	p, err = Epsilon(Composed{[]Event{Gaussian{20}, Approximate{0, .5 * math.Erfc(5 / math.Sqrt2)}, Gaussian{4.5}}}, 1e-6, AddOrRemoveOne)
	t.Log(p, err)
}
func deltaG(mu, eps float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return phi(mu/2-eps/mu) - math.Exp(eps)*phi(-mu/2-eps/mu)
}
