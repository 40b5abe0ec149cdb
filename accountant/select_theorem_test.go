package accountant_test

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestSelectionIsThatOfTheTheorem: the Rényi divergence of a selection among Gaussian runs is the
// bound of Papernot and Steinke 2022, Theorem 2. For Gaussians the best second order has a closed
// form.
func TestSelectionIsThatOfTheTheorem(t *testing.T) {
	const z = 3
	for _, shape := range []float64{-0.5, 0, 1} {
		for _, mean := range []float64{2, 20, 1000} {
			e := accountant.RepeatAndSelect{Event: accountant.Gaussian{NoiseMultiplier: z}, Mean: mean,
				Shape: shape}
			spread := -math.Log(e.Gamma())
			if math.Sqrt(2*spread)*z < 1 {
				t.Fatal("the best second order is not above 1")
			}
			second := math.Sqrt(2*spread)/z - 1.0/(2*z*z)
			for _, order := range []float64{1.5, 4, 32} {
				got, err := accountant.RDP(e, order, accountant.AddOrRemoveOne)
				if err != nil {
					t.Fatal(err)
				}
				want := order/(2*z*z) + (1+shape)*second + math.Log(mean)/(order-1)
				if got < want*(1-1e-6) || got > want*1.02 {
					t.Errorf("shape %v, mean %v, order %v: got %v, want %v", shape, mean, order, got, want)
				}
			}
		}
	}
}
