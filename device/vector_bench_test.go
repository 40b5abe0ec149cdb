package device

import (
	"math/rand/v2"
	"testing"
)

// perNumber reports the time for each of n numbers in nanoseconds. Small operands stay in the
// first-level cache.
func perNumber(b *testing.B, n int, f func()) {
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/number")
}

func BenchmarkVector(b *testing.B) {
	const n = 2048
	r := rand.New(rand.NewPCG(1, 1))
	x, y, z, v := randomMatrix(r, 1, n, 0).Data, make([]float32, n), make([]float32, n),
		make([]float32, n)
	k := fastest()
	for f := ReLU; f < funcs; f++ {
		b.Run(f.String(), func(b *testing.B) { perNumber(b, n, func() { k.apply[f](y, x) }) })
		b.Run(f.String()+"Gradient", func(b *testing.B) {
			perNumber(b, n, func() { k.gradient[f](z, x) })
		})
	}
	b.Run("cosSin", func(b *testing.B) { perNumber(b, n, func() { k.cosSin(y, z, x, 1) }) })
	b.Run("axpy", func(b *testing.B) { perNumber(b, n, func() { k.axpy(1e-9, x, y) }) })
	b.Run("squares", func(b *testing.B) { perNumber(b, n, func() { k.dot(x, x) }) })
	b.Run("dot", func(b *testing.B) { perNumber(b, n, func() { k.dot(x, y) }) })
	rates := AdamStep{LR: 1e-9, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: 1}.rates()
	b.Run("adam", func(b *testing.B) {
		perNumber(b, n, func() { clear(v); k.adam(y, x, z, v, &rates, 1) })
	})
}

// BenchmarkSparse measures the first layer of a model of sets of 1,303 items, with eleven items in
// each record.
func BenchmarkSparse(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	c := newCPU(1, fastest())
	const rows = 1024
	s := &Sparse{Cols: 1303, Offsets: make([]int, rows+1)}
	for i := range rows {
		for range 11 {
			s.Items = append(s.Items, uint32(float64(s.Cols)*r.Float64()*r.Float64()))
		}
		s.Offsets[i+1] = len(s.Items)
	}
	for _, cols := range []struct {
		name string
		n    int
	}{{"256", 256}, {"1024", 1024}, {"5000", 5000}} {
		w, out := randomMatrix(r, s.Cols, cols.n, 0), randomMatrix(r, rows, cols.n, 0)
		dense := randomMatrix(r, rows, s.Cols, 0)
		b.Run("dense/"+cols.name, func(b *testing.B) {
			perNumber(b, rows, func() { c.Gemm(false, false, 1, dense, w, 0, out) })
		})
		b.Run("forward/"+cols.name, func(b *testing.B) {
			perNumber(b, rows, func() { c.SparseGemm(s, w, 0, out) })
		})
		b.Run("gradient/"+cols.name, func(b *testing.B) {
			perNumber(b, rows, func() { c.SparseGemmT(s, out, 0, w) })
		})
	}
}

// BenchmarkFeatures compares random Fourier features, which are a product and its cosines and
// sines, with the product alone.
func BenchmarkFeatures(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	c := newCPU(1, fastest())
	const rows, in, frequencies = 512, 784, 5000
	x, w, out := randomMatrix(r, rows, in, 0), randomMatrix(r, in, frequencies, 0),
		randomMatrix(r, rows, 2*frequencies, 0)
	left := out.Slice(0, rows, 0, frequencies)
	b.Run("product", func(b *testing.B) {
		perNumber(b, rows, func() { c.Gemm(false, false, 1, x, w, 0, left) })
	})
	b.Run("features", func(b *testing.B) {
		perNumber(b, rows, func() {
			c.Gemm(false, false, 1, x, w, 0, left)
			c.CosSin(out, left, 0.01)
		})
	})
}
