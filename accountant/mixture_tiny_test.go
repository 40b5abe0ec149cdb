package accountant_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// A Poisson sample is a mixture of sensitivities 0 and 1. So one use of the mixture costs no less,
// also if its losses are far below the last digit of 1.
func TestMixturesOfTinyRatesCostAsMuchAsSamples(t *testing.T) {
	for _, q := range []float64{1e-14, 1e-16, 1e-20} {
		sample := accountant.PoissonSampled{Probability: q,
			Event: accountant.Gaussian{NoiseMultiplier: 1}}
		mixture := accountant.GaussianMixture{NoiseMultiplier: 1, Sensitivities: []float64{0, 1},
			Probabilities: []float64{1 - q, q}}
		want, err := accountant.Epsilon(sample, q/20, accountant.AddOrRemoveOne)
		if err != nil {
			t.Fatal(err)
		}
		got, err := accountant.Epsilon(mixture, q/20, accountant.AddOrRemoveOne)
		if err != nil || !(got.Upper >= want.Lower) {
			t.Errorf("rate %g: ε %g of the mixture, %v; want at least %g", q, got.Upper, err, want.Lower)
		}
	}
}
