package sampler

import (
	"math"
	"testing"
)

// TestGapsAgreeWithExactComparison: the floating-point inversion gives the same gaps as exact
// comparisons of u with the powers of 1−q.
func TestGapsAgreeWithExactComparison(t *testing.T) {
	for _, q := range []float64{0.12, 1.0 / 600, 2.2e-5, 1e-9, 1e-17, 0x1p-1074} {
		f := &fork{from: fixedBits(3)}
		a, b := &reader{f: f}, &reader{f: f}
		p := newGeometric(q)
		for i := range 300 {
			x := p.next(math.MaxInt32, a)
			y := p.exact(math.MaxInt32, newDigits(b.Uint64(), 64, b))
			if x != y || a.next != b.next {
				t.Fatalf("q %v draw %d: got %d, want %d", q, i, x, y)
			}
		}
		// Try words at the edge between two gaps.
		for k := range 50 {
			edge := math.Exp(float64(k) * math.Log1p(-q))
			word := uint64(math.Min(edge*0x1p64, 0x1p64-0x1p11))
			for d := range uint64(3) {
				f := &fork{from: fixedBits(4), words: []uint64{word + d - 1}}
				a, b := &reader{f: f}, &reader{f: f}
				if x, y := p.next(1000, a), p.exact(1000, newDigits(b.Uint64(), 64, b)); x != y {
					t.Fatalf("q %v word %d: got %d, want %d", q, word, x, y)
				}
			}
		}
	}
}
