package mechanism

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// MaxNoiseMultiplier is the largest noise multiplier that configurations accept. Larger noise may
// not fit the grids of counts. It would then be refused after its event was reserved. A single
// Gaussian release of this multiplier costs less than ε = 10⁻⁶ at δ = 10⁻⁹.
//
// The finest grid that does not follow the noise is the grid of fractions, 2⁻²⁰ of a count. Noise
// on this grid has at most 2^45 steps. Under replace-one, noise of this multiplier has √2·2^44
// steps.
const MaxNoiseMultiplier = 1 << 24

// IsNoiseMultiplier reports whether z is positive and at most [MaxNoiseMultiplier].
func IsNoiseMultiplier(z float64) bool { return z > 0 && z <= MaxNoiseMultiplier }

// MinArgmaxMultiplier is the smallest noise multiplier of counts that [Grant.NoisyArgmax] and
// [NormHistogram.Release] accept. Less noise is refused after its event was reserved, so that
// configurations refuse it before.
const MinArgmaxMultiplier = 0x1p-24

// CheckCountNoise returns an error if noise of standard deviation std does not fit the grid of
// counts (see [CountGrid]). Repeated releases draw noise of up to three times std, which must fit
// too.
//
// Errors: *[param.Error] at the path.
func CheckCountNoise(path string, std float64, parts bool) error {
	most, unit := 0x1p43, "2^43"
	if parts {
		most, unit = most*shareStep, "2^23"
	}
	if std > 0 && std <= most {
		return nil
	}
	return param.New(path, std, fmt.Sprintf(
		"noise whose standard deviation on counts is at most %s records or persons", unit))
}
