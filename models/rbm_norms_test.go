package models

import (
	"math"
	"testing"
)

// TestDistanceBoundCoversItsRounding: the norm by which an example is clipped is not below the true
// norm, for any possible rounding error and any number of terms. The usual bound of the error is
// negative for more than 2²⁴ terms.
func TestDistanceBoundCoversItsRounding(t *testing.T) {
	for terms := 3; terms <= 1<<30; terms += terms/2 + 1 {
		for _, ratio := range []float64{1, 1.0001, 3, 17, 1e4} {
			for _, cosine := range []float64{-1, 0, 0.5, 1} {
				product, squared := 2*ratio, 2.0
				root := math.Sqrt(product * squared)
				truth := product - 2*cosine*root + squared
				worst := cosine + float64(terms)*0x1p-24
				if got := distanceBound(product, worst*root, squared, terms, 10); got < truth {
					t.Errorf("%d terms, ratio %v, cosine %v: bound %v, want ≥ %v", terms, ratio, cosine, got, truth)
				}
			}
		}
	}
	if got := distanceBound(math.NaN(), 1, 1, 10, 10); !math.IsNaN(got) {
		t.Errorf("an example that is not finite has the squared norm %v, want NaN", got)
	}
}
