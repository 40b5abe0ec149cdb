package privacytest

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// TestASumOfNaNIsFound replays releases whose input on the neighbour is close, far, NaN or
// infinite. NaN is never within the declared distance. A close input is not reported.
func TestASumOfNaNIsFound(t *testing.T) {
	release := func(mechanism string, input float64) *entropy.Release {
		return &entropy.Release{Step: 1, Purpose: "sum", Mechanism: mechanism, Effect: 1,
			Std: []float64{1}, Grid: []float64{0x1p-20}, Inputs: [][]float64{{input, 0}},
			Outputs: [][]float64{{3, 3}}}
	}
	for _, mechanism := range []string{"Gaussian", "Laplace", "exponential mechanism"} {
		for input, found := range map[float64]bool{0.5: false, 2: true, math.NaN(): true,
			math.Inf(1): true} {
			first := &tape{}
			if err := first.Release(release(mechanism, 0)); err != nil {
				t.Fatal(err)
			}
			second := &tape{earlier: first.calls, playing: true}
			if err := second.Release(release(mechanism, input)); err != nil {
				t.Fatal(err)
			}
			if got := len(second.findings) > 0; got != found {
				t.Errorf("%s: inputs 0 and %g, effect 1: got findings %q", mechanism, input,
					second.findings)
			}
		}
	}
}
