package pld

import (
	"math"
	"testing"
)

// TestSamplesOfFarLosses: the curve of a sample of randomised responses is at least its closed
// form, also where the losses are larger than floating-point numbers can hold.
func TestSamplesOfFarLosses(t *testing.T) {
	for _, far := range []float64{3, 100, 650, 690, 720, 800, 5000} {
		lie := math.Exp(-far) / (1 + math.Exp(-far)) // the probability of the other answer
		base := NewSymmetric([]float64{-far, far}, []float64{lie, 1 - lie}, 0)
		for _, q := range []float64{1e-9, 1e-3, 0.3, 0.999} {
			for _, eps := range []float64{0.1, 1, 10, 60, 300, 599, 620, 689, 699, 705, 750, 4900} {
				// The sampled answer has q·(1−lie) + (1−q)·lie, against lie.
				want := q*(1-lie) + (1-q)*lie - math.Exp(eps-far)/(1+math.Exp(-far))
				one := NewSingle(&Pairs{Remove: NewSampled(q, base)}, true)
				lower, upper := one.Delta(eps)
				if want = max(want, 0); !(upper >= want*(1-1e-12)) || lower > want*(1+1e-12)+1e-18 {
					t.Errorf("loss %v, rate %v: δ(%v) in [%v, %v], want %v", far, q, eps, lower, upper, want)
				}
			}
		}
	}
}
