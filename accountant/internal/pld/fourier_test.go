package pld

import (
	"math"
	"math/cmplx"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// TestTransform: for many sizes, the transform agrees with gonum's within a third of
// transformError, and the inverse restores the input.
func TestTransform(t *testing.T) {
	d := newDraws(60)
	var f transformer
	for want := 64; want <= 1<<15; want = want*5/4 + 1 {
		n := transformSize(want)
		if n < want || n > want*3/2+64 {
			t.Fatalf("got size %d for at least %d points, want at most half more", n, want)
		}
		f.reset(n)
		seq, sum := make([]float64, n), 0.0
		for i := range seq {
			seq[i] = d.between(1e-12, 1)
			sum += seq[i]
		}
		coef := make([]complex128, n/2+1)
		f.forward(coef, seq)
		limit := transformError(n) * sum
		for k, v := range fourier.NewFFT(n).Coefficients(nil, seq) {
			if cmplx.Abs(v-coef[k]) > limit/3 {
				t.Fatalf("n=%d k=%d: %v, want %v within %g", n, k, coef[k], v, limit/3)
			}
		}
		back, size := make([]float64, n), 0.0
		for _, v := range coef {
			size += 2 * cmplx.Abs(v)
		}
		f.backward(back, coef)
		for i := range seq {
			if math.Abs(back[i]/float64(n)-seq[i]) > 2*transformError(n)*size/float64(n) {
				t.Fatalf("n=%d: want %g, the inverse returns %g", n, seq[i], back[i]/float64(n))
			}
		}
	}
}

func BenchmarkTransform(b *testing.B) {
	const n = 24576
	var f transformer
	f.reset(n)
	seq, coef := make([]float64, n), make([]complex128, n/2+1)
	for i := range seq {
		seq[i] = 1 / float64(i+1)
	}
	for b.Loop() {
		f.forward(coef, seq)
	}
}
