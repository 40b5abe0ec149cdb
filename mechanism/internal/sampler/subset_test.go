package sampler

import (
	"math"
	"testing"
)

// TestFloydTriples: all triples are equally likely, although a row that is already in the subset is
// often drawn again.
func TestFloydTriples(t *testing.T) {
	const population, triples, n = 7, 35, 40000
	src := secureBits(t)
	counts := map[[3]int32]int{}
	for range n {
		rows := floyd(population, 3, src, []int32{-1})[1:] // the element before is not part of the subset
		if len(rows) != 3 || rows[0] >= rows[1] || rows[1] >= rows[2] {
			t.Fatalf("got %v, want three increasing rows", rows)
		}
		counts[[3]int32(rows)]++
	}
	if len(counts) != triples {
		t.Errorf("got %d different triples, want %d", len(counts), triples)
	}
	for _, c := range counts {
		sixSigma(t, "triple", c, n, 1.0/triples)
	}
}

// sixSigma compares a count with its binomial distribution. It fails by chance with probability
// 6e-10: the limit is 6.2 standard deviations.
func sixSigma(t *testing.T, what string, count, n int, p float64) {
	t.Helper()
	mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	if z := (float64(count) - mean) / sd; math.Abs(z) > 6.2 {
		t.Errorf("%s: got %d of %d at probability %v, which deviates by %.1f sigma", what, count, n, p, z)
	}
}
