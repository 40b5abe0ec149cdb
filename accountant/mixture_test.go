package accountant

import (
	"math"
	"testing"
)

// TestMixturesBruteForce compares the price of a sum to which a record adds a vector of random norm
// with integrals over the result: δ of both directions for one use, and the divergence.
func TestMixturesBruteForce(t *testing.T) {
	for _, e := range []GaussianMixture{
		{2, []float64{0, 1, 2}, []float64{0.9, 0.08, 0.02}},
		{1, []float64{1, 0.5}, []float64{0.25, 0.75}}, {0.7, []float64{0, 3}, []float64{0.5, 0.5}},
		{1.5, []float64{1, 1, 0}, []float64{0.2, 0.3, 0.5}},
	} {
		sd, step := e.NoiseMultiplier, e.NoiseMultiplier/200
		density := func(x, mean float64) float64 {
			return math.Exp(-(x-mean)*(x-mean)/(2*sd*sd)) / sd / math.Sqrt(2*math.Pi)
		}
		var with, without []float64
		for x := -12 * sd; x < 12*sd+3; x += step {
			p := 0.0
			for i, s := range e.Sensitivities {
				p += e.Probabilities[i] * density(x, s)
			}
			with, without = append(with, p*step), append(without, density(x, 0)*step)
		}
		for _, eps := range []float64{0, 0.1, 0.5, 1, 2} {
			truth := max(hockey(with, without, eps), hockey(without, with, eps))
			b := must[Bound](t)(Delta(e, eps, AddOrRemoveOne))
			if !(b.Upper >= truth*(1-1e-5)-1e-9) || !(b.Upper <= truth*1.01+1e-7) ||
				!(b.Lower <= truth*(1+1e-5)+1e-9) {
				t.Errorf("%+v: δ(%g) = %+v, want %g", e, eps, b, truth)
			}
		}
		for _, order := range []float64{1.5, 4, 8} {
			there, back := 0.0, 0.0
			for x := -(12 + 3*order/sd) * sd; x < (12+3*order/sd)*sd; x += step {
				ratio := 0.0
				for i, s := range e.Sensitivities {
					ratio += e.Probabilities[i] * math.Exp((2*x-s)*s/(2*sd*sd))
				}
				log, q := math.Log(ratio), step/sd/math.Sqrt(2*math.Pi)
				there += q * math.Exp(order*log-x*x/(2*sd*sd))
				back += q * math.Exp((1-order)*log-x*x/(2*sd*sd))
			}
			truth := math.Log(max(there, back)) / (order - 1)
			v := must[float64](t)(RDP(e, order, AddOrRemoveOne))
			if !(v >= truth*(1-1e-6)) || !(v <= truth*1.01) {
				t.Errorf("%+v: the divergence of order %g is %g, want %g", e, order, v, truth)
			}
		}
	}
}
