package mechanism

import (
	"math"
	"testing"
)

// TestRoundingToTheGridIsCharged: rounding moves the sums of neighbours apart by at most one step
// of the grid in each coordinate, and the noise is scaled for that in addition to the
// sensitivity.
func TestRoundingToTheGridIsCharged(t *testing.T) {
	for _, dim := range []int{1, 1000, 1 << 24} {
		for _, multiplier := range []float64{1e-3, 1, 50} {
			const sensitivity = 0.7
			grid, std := gradientNoise(sensitivity, multiplier, dim)
			moved := sensitivity + grid*math.Sqrt(float64(dim))
			if grid <= 0 || std/multiplier < moved*(1-1e-15) {
				t.Errorf("dimension %d, multiplier %v: noise for %v, neighbours %v apart", dim, multiplier,
					std/multiplier, moved)
			}
		}
	}
}
