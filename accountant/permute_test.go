package accountant

import (
	"math"
	"testing"
)

// chosen returns the probabilities with which permute-and-flip chooses each candidate, by all
// orders.
func chosen(utilities []float64, eps float64) []float64 {
	out, best := make([]float64, len(utilities)), math.Inf(-1)
	for _, u := range utilities {
		best = max(best, u)
	}
	var walk func(left []int, weight float64)
	walk = func(left []int, weight float64) {
		for at, i := range left {
			w, p := weight/float64(len(left)), math.Exp(eps*(utilities[i]-best)/2)
			out[i] += w * p
			walk(append(append([]int(nil), left[:at]...), left[at+1:]...), w*(1-p))
		}
	}
	var all []int
	for i := range utilities {
		all = append(all, i)
	}
	walk(all, 1)
	return out
}

// TestPermuteAndFlip: no pair of neighbouring lists of utilities has a δ above the price, of one
// choice and of two.
func TestPermuteAndFlip(t *testing.T) {
	d := newDraws(37)
	above := false // of the exponential mechanism
	for range 400 {
		eps := d.between(0.1, 4)
		var a, b []float64
		for range 2 + d.IntN(3) {
			u := float64(d.IntN(4))
			a, b = append(a, u), append(b, u+float64(d.IntN(3)-1))
		}
		p, q := chosen(a, eps), chosen(b, eps)
		e := ExponentialMechanism{eps, true}
		for _, x := range []float64{0, 0.3 * eps, 0.9 * eps, 1.2 * eps} {
			one, two := 0.0, 0.0
			for i := range p {
				one += max(0, p[i]-math.Exp(x)*q[i])
				for j := range p {
					two += max(0, p[i]*p[j]-math.Exp(x)*q[i]*q[j])
				}
			}
			if got := must[Bound](t)(Delta(e, x, AddOrRemoveOne)); got.Upper < one*(1-1e-9) {
				t.Errorf("ε=%g, δ(%g) of %v and %v is %g, the price %+v", eps, x, a, b, one, got)
			}
			if got := must[Bound](t)(Delta(Repeated{e, 2}, x, AddOrRemoveOne)); got.Upper < two*(1-1e-9) {
				t.Errorf("ε=%g, δ(%g) of %v and %v twice is %g, the price %+v", eps, x, a, b, two, got)
			}
			range1 := must[Bound](t)(Delta(ExponentialMechanism{Epsilon: eps}, x, AddOrRemoveOne))
			above = above || one > range1.Upper*(1+1e-9)
		}
	}
	if !above {
		t.Error("the bounded range covers all pairs tried")
	}
	if b := must[Bound](t)(Epsilon(ExponentialMechanism{2, true}, 0, AddOrRemoveOne)); b.Upper != 2 {
		t.Errorf("at δ = 0 permute-and-flip has %+v", b)
	}
}
