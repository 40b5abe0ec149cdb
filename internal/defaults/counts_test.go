package defaults

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestShrinkKeepsSums: if most counts are far below the noise, their sum is accurate, and squared
// errors are far smaller than with clamping.
func TestShrinkKeepsSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, std = 10000, 50.0
	truth, noisy := make([]float64, n), make([]float64, n)
	total := 0.0
	for i := range truth {
		truth[i] = 8000 / float64(1+i)
		noisy[i] = truth[i] + std*rng.NormFloat64()
		total += truth[i]
	}
	got := ShrinkCounts(noisy, std)
	var sum, squares, clamped, clampedSquares float64
	for i, v := range got {
		if !(v >= 0) {
			t.Fatalf("count %d is %v, want a nonnegative number", i, v)
		}
		c := max(noisy[i], 0)
		sum, clamped = sum+v, clamped+c
		squares += (v - truth[i]) * (v - truth[i])
		clampedSquares += (c - truth[i]) * (c - truth[i])
	}
	// The standard deviation of the noise of the sum is 5000. An error of four times this is allowed.
	if math.Abs(sum-total) > 4*std*math.Sqrt(n) || math.Abs(clamped-total) < 1.5*math.Abs(sum-total) {
		t.Errorf("the sum is %.0f, and %.0f with clamping, want about %.0f", sum, clamped, total)
	}
	if squares > clampedSquares/5 {
		t.Errorf("squared error %.3g, and %.3g with clamping, want a fifth or less", squares, clampedSquares)
	}
}

func TestShrinkIsTotal(t *testing.T) {
	for _, noisy := range [][]float64{nil, {0}, {-1e300, 1e300}, {5, 5, 5}} {
		for _, std := range []float64{0, 1e-9, 1, 1e9} {
			for _, v := range ShrinkCounts(noisy, std) {
				if !(v >= 0) || math.IsInf(v, 0) {
					t.Errorf("ShrinkCounts(%v, %v) returns %v, want finite numbers that are not negative", noisy, std, v)
				}
			}
		}
	}
	if got := ShrinkCounts([]float64{1000}, 1)[0]; got != 1000 {
		t.Errorf("a count of 1000, far above its noise, becomes %v, want no change", got)
	}
}
