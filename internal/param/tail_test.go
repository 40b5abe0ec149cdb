package param

import (
	"math"
	"testing"
)

// TestTinyTails checks that the inverse is right for probabilities that math.Erfcinv does not know,
// and is that of package math for others, to the last bit.
func TestTinyTails(t *testing.T) {
	for p := 1e-17; p > 1e-300; p /= 1e3 {
		if got := math.Erfc(Erfcinv(p)); !(math.Abs(got/p-1) <= 1e-9) {
			t.Errorf("a probability of %g instead of %g", got, p)
		}
	}
	for _, p := range []float64{1, 0.3, 1e-5, 1e-12, 1e-15} {
		if got, want := Erfcinv(p), math.Erfcinv(p); got != want {
			t.Errorf("%g: %v, want %v", p, got, want)
		}
	}
}
