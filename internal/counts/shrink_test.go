package counts

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestShrinkKeepsSums: over many counts that are mostly far below the noise, sums stay right and
// errors fall well below those of clamping.
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
	got := Shrink(noisy, std)
	var sum, squares, clamped, clampedSquares float64
	for i, v := range got {
		if !(v >= 0) {
			t.Fatalf("count %d is %v", i, v)
		}
		c := max(noisy[i], 0)
		sum, clamped = sum+v, clamped+c
		squares += (v - truth[i]) * (v - truth[i])
		clampedSquares += (c - truth[i]) * (c - truth[i])
	}
	// The noise of the sum is 5000, four times which the sum may be off.
	if math.Abs(sum-total) > 4*std*math.Sqrt(n) || math.Abs(clamped-total) < 1.5*math.Abs(sum-total) {
		t.Errorf("sum %.0f, clamped %.0f, of %.0f", sum, clamped, total)
	}
	if squares > clampedSquares/5 {
		t.Errorf("squared error %.3g, clamped %.3g", squares, clampedSquares)
	}
}

func TestShrinkIsTotal(t *testing.T) {
	for _, noisy := range [][]float64{nil, {0}, {-1e300, 1e300}, {5, 5, 5}} {
		for _, std := range []float64{0, 1e-9, 1, 1e9} {
			for _, v := range Shrink(noisy, std) {
				if !(v >= 0) || math.IsInf(v, 0) {
					t.Errorf("Shrink(%v, %v) holds %v", noisy, std, v)
				}
			}
		}
	}
	if got := Shrink([]float64{1000}, 1)[0]; got != 1000 {
		t.Errorf("a count far above its noise becomes %v", got)
	}
}
