package models

import (
	"math"
	"testing"
)

// The norm that an example is clipped by must not be below the true one for any possible rounding
// error, however many numbers are added. The usual bound of that error is negative from 2²⁴ numbers
// on.
func TestDistanceBoundCoversItsRounding(t *testing.T) {
	for terms := 3; terms <= 1<<30; terms = terms*3/2 + 1 {
		for _, ratio := range []float64{1, 1.0001, 3, 17, 1e4} {
			for _, cosine := range []float64{-1, 0, 0.5, 1} {
				product, squared := 2*ratio, 2.0
				root := math.Sqrt(product * squared)
				truth := product - 2*cosine*root + squared
				worst := cosine + float64(terms)*0x1p-24
				if got := distanceBound(product, worst*root, squared, terms, 10); got < truth {
					t.Errorf("%d terms, ratio %v, cosine %v: bound %v below %v", terms, ratio, cosine, got, truth)
				}
			}
		}
	}
	if got := distanceBound(math.NaN(), 1, 1, 10, 10); !math.IsNaN(got) {
		t.Errorf("an example that is not finite has the squared norm %v", got)
	}
}
