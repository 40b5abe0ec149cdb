package sampler

import "testing"

// TestCarriedSums: what a sum carries beyond 31 bits is added to its units, before the noise.
func TestCarriedSums(t *testing.T) {
	noisy := []float64{1, -2, 3}
	AddCarried(noisy, []int32{5, -7, 0, 9}, []float64{0.5, -0x1p31, 0, 9}, 2, 0.25)
	for i, want := range []float64{(11 + 1) / 4., (-14 - 0x1p32 - 2) / 4., 0.75} {
		if noisy[i] != want {
			t.Errorf("coordinate %d is %v, want %v", i, noisy[i], want)
		}
	}
}
