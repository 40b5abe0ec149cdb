package sgd

import (
	"math"
	"testing"
)

// TestBandIsNearTheBest: the noise in the parameters, relative to independent noise without
// sampling, is within 3 % of the least that numerical optimisation of all coefficients found
// (L-BFGS, 1,000 steps).
func TestBandIsNearTheBest(t *testing.T) {
	for _, c := range []struct {
		bands      int
		beta, best float64
	}{
		{2, 0, 0.7117}, {4, 0, 0.5110}, {8, 0, 0.3733}, {16, 0, 0.2806}, {32, 0, 0.2195},
		{4, 0.9, 0.5011}, {8, 0.9, 0.3557}, {16, 0.9, 0.2545}, {32, 0.9, 0.1860},
	} {
		got := math.Sqrt(bandNoise(band(c.bands, 1000, c.beta), 1000, c.beta) /
			bandNoise([]float64{1}, 1000, c.beta))
		if !(got <= 1.03*c.best && got >= c.best*(1-1e-3)) {
			t.Errorf("%d bands, momentum %v: noise %.4f, want %.4f to 3 %% more", c.bands, c.beta, got, c.best)
		}
	}
}
