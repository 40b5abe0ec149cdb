package renyi

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSumAndQuadratureMeet checks that the sum for integer orders and the quadrature for fractional
// orders agree at integer orders.
func TestSumAndQuadratureMeet(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0xacc))
	between := func(lo, hi float64) float64 { return lo * math.Exp(rng.Float64()*math.Log(hi/lo)) }
	for range 1500 {
		q, sigma, order := between(1e-6, 1), between(0.4, 100), math.Floor(between(0.02, 60))+2
		a, b := sampledInteger(q, 1/sigma, order), sampledFractional(q, 1/sigma, order)
		if math.Abs(a-b) > 1e-9*a {
			t.Fatalf("q=%g σ=%g α=%g: sum %g, quadrature %g", q, sigma, order, a, b)
		}
	}
}
