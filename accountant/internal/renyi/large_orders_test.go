package renyi

import "testing"

// TestLargeFractionalOrdersAreRoundedUp: divergences grow with the order, so only the next integer
// order bounds that of a fraction.
func TestLargeFractionalOrdersAreRoundedUp(t *testing.T) {
	for _, order := range []float64{1 << 12, 5000, 70000} {
		below := SampledGaussian(0.1, 0.05, order)
		got, above := SampledGaussian(0.1, 0.05, order+0.5), SampledGaussian(0.1, 0.05, order+1)
		if !(below < above && got >= above) {
			t.Errorf("order %v: %v, want the %v of the next order, not the %v of the one before",
				order+0.5, got, above, below)
		}
	}
}
