package mechanism

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestRoundingToTheGridIsCharged: rounding increases the distance of the sums of neighbours by at
// most one step of the grid in each coordinate. The noise is scaled to the sensitivity plus this
// distance.
func TestRoundingToTheGridIsCharged(t *testing.T) {
	for _, dim := range []int{1, 1000, 1 << 24} {
		for _, multiplier := range []float64{1e-3, 1, 50} {
			const sensitivity = 0.7
			grid, std := gradientNoise(sensitivity, multiplier, dim)
			moved := sensitivity + grid*math.Sqrt(float64(dim))
			if grid <= 0 || std/multiplier < moved*(1-1e-15) {
				t.Errorf("dimension %d, multiplier %v: got noise for a distance of %v, want %v", dim,
					multiplier, std/multiplier, moved)
			}
		}
	}
}

// TestGradientNoiseOfOppositeRows: under replace-one, the rows of a sampled sum stay within half of
// the distance that is charged, after rounding.
func TestGradientNoiseOfOppositeRows(t *testing.T) {
	event := accountant.SampledSum{Probability: 0.1, NoiseMultiplier: 2}
	terms := termsOf(event).under(accountant.ReplaceOne)
	for _, dim := range []int{1, 1000, 1 << 24} {
		grid, std := terms.gradientNoise(2, 1, dim)
		if row := 1 + grid*math.Sqrt(float64(dim)); row > std/2*(1+1e-15) {
			t.Errorf("dimension %d: a rounded row has norm %v, the noise is for %v", dim, row, std/2)
		}
	}
}
