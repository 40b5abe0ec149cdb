package sgd

import (
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/models"
)

// TestPinsOfPlans holds what training chooses before it begins to its bits: the units of sums, and
// the coefficients and the noise of bands.
func TestPinsOfPlans(t *testing.T) {
	parts := map[string][]byte{}
	for _, form := range []models.FixedForm{{Reach: 1, Terms: 1}, {Reach: 3, Terms: 2},
		{Reach: 2, Terms: 40}} {
		for _, size := range []int{10, 3000, 400_000} {
			for _, bound := range []float64{0.7, 1, 1e-9, 3e7} {
				f := &fixedSum{form: form, size: size}
				f.plan(bound)
				parts["sums"] = fmt.Appendln(parts["sums"], f.sum.Unit, f.sum.Chain, f.sum.Limit, f.shrink,
					f.most)
			}
		}
	}
	for _, n := range []int{1, 2, 3, 8, 20} {
		for _, beta := range []float64{0, 0.5, 0.9} {
			c := band(n, 60, beta)
			parts["bands"] = fmt.Appendln(parts["bands"], c, bandNoise(c, 60, beta), bandNoise(c, 7, beta))
		}
	}
	pins.Check(t, parts)
}
