package device

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

func randomMatrix(r *rand.Rand, rows, cols, gap int) Matrix {
	m := Matrix{Rows: rows, Cols: cols, Stride: cols + gap}
	if rows > 0 && cols > 0 {
		m.Data = make([]float32, (rows-1)*m.Stride+cols)
	}
	for i := range m.Data {
		m.Data[i] = float32(r.NormFloat64())
	}
	return m
}

// run computes α op(A) op(B) + β C on a copy of C.
func run(c *cpu, transA, transB bool, alpha float32, a, b Matrix, beta float32,
	start Matrix) Matrix {
	out := start
	out.Data = append([]float32(nil), start.Data...)
	c.Gemm(transA, transB, alpha, a, b, beta, out)
	return out
}

func oriented(r *rand.Rand, rows, cols int, transposed bool) Matrix {
	if transposed {
		rows, cols = cols, rows
	}
	return randomMatrix(r, rows, cols, r.IntN(3))
}

// TestSameBits checks that products have the same bits for all vector levels, numbers of workers
// and values of GOMAXPROCS.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(3, 4))
	var backends []*cpu
	for _, level := range available()[min(1, len(available())-1):] {
		for _, workers := range []int{1, 2, 5} {
			backends = append(backends, newCPU(workers, level))
		}
	}
	products := 80
	if testing.Short() {
		products = 16
	}
	for n := range products {
		runtime.GOMAXPROCS(1 + n%3)
		m, n, k := r.IntN(300), r.IntN(300), r.IntN(900)
		if r.IntN(3) == 0 {
			n = r.IntN(6)
		}
		ta, tb := r.IntN(2) == 0, r.IntN(2) == 0
		a, b, start := oriented(r, m, k, ta), oriented(r, k, n, tb), randomMatrix(r, m, n, r.IntN(3))
		alpha, beta := [3]float32{1, -1, 0.3}[r.IntN(3)], [3]float32{0, 1, 0.7}[r.IntN(3)]
		want := run(backends[0], ta, tb, alpha, a, b, beta, start)
		for _, c := range backends[1:] {
			got := run(c, ta, tb, alpha, a, b, beta, start)
			for i, v := range got.Data {
				if math.Float32bits(v) != math.Float32bits(want.Data[i]) {
					t.Fatalf("%s with %d workers: %d×%d·%d×%d (%v, %v): number %d is %v, on the first backend %v", c.Name(),
						c.workers, m, k, k, n, ta, tb, i, v, want.Data[i])
				}
			}
		}
	}
}

// TestAwkwardStrides compares blocks that are copied first with blocks that are read in place. Both
// must give the same bits.
func TestAwkwardStrides(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, level := range available() {
		c := newCPU(2, level)
		for range 12 {
			transposed := r.IntN(2) == 0
			m, n, k := 1+r.IntN(300), 1+r.IntN(70), 1+r.IntN(1024)
			rows, cols := m, k
			if transposed {
				rows, cols = k, m
			}
			a, near := randomMatrix(r, rows, cols, 1024-cols), randomMatrix(r, rows, cols, 3)
			for i := range rows {
				copy(near.Row(i), a.Row(i))
			}
			b, start := randomMatrix(r, k, n, 0), randomMatrix(r, m, n, 0)
			got, want := run(c, transposed, false, 1, a, b, 1, start),
				run(c, transposed, false, 1, near, b, 1, start)
			if !slices.Equal(got.Data, want.Data) {
				t.Fatalf("%s: %d×%d·%d×%d (transposed %v) depends on A's stride", level.name, m, k, k, n,
					transposed)
			}
		}
	}
}

// TestRowsAlone checks that a row of a product does not depend on the other rows of the batch.
// Clipping relies on this: the contribution of an example must not depend on other examples.
func TestRowsAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, level := range available() {
		c := newCPU(2, level)
		for range 60 {
			m, n, k := 1+r.IntN(80), r.IntN(80), r.IntN(900)
			if r.IntN(3) == 0 {
				n = r.IntN(6)
			}
			tb := r.IntN(2) == 0
			a, b, start := randomMatrix(r, m, k, 0), oriented(r, k, n, tb), randomMatrix(r, m, n, 0)
			all := run(c, false, tb, 1, a, b, 1, start)
			lo := r.IntN(m)
			hi := lo + 1 + r.IntN(m-lo)
			some := run(c, false, tb, 1, a.RowRange(lo, hi), b, 1, start.RowRange(lo, hi))
			for i, v := range some.Data {
				if v != all.Data[lo*n+i] {
					t.Fatalf("%s: rows %d to %d of %d×%d·%d×%d have different bits without the other rows", c.Name(), lo, hi,
						m, k, k, n)
				}
			}
		}
	}
}

// TestOneChain checks the order of operations against a chain of correctly rounded multiply-adds.
func TestOneChain(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, level := range available() {
		c := newCPU(1, level)
		for range 30 {
			m, n, k := 1+r.IntN(80), 1+r.IntN(40), r.IntN(1000)
			if r.IntN(2) == 0 {
				n = 1 + r.IntN(5)
			}
			transposed := r.IntN(2) == 0
			a, b, start := oriented(r, m, k, transposed), randomMatrix(r, k, n, 0), randomMatrix(r, m, n, 0)
			got := run(c, transposed, false, 1, a, b, 1, start)
			at := func(i, l int) float32 {
				if transposed {
					i, l = l, i
				}
				return a.Row(i)[l]
			}
			for i := range m {
				for j := range n {
					chain := func(want float32, from, step int) float32 {
						for l := from; l < k; l += step {
							want = fma32(at(i, l), b.Row(l)[j], want)
						}
						return want
					}
					var want float32
					if n <= thinCols && !transposed {
						var s [8]float32
						for lane := range s {
							s[lane] = chain(0, lane, 8)
						}
						want = start.Row(i)[j] + (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])))
					} else {
						want = chain(start.Row(i)[j], 0, 1)
					}
					if got.Row(i)[j] != want {
						t.Fatalf("%s: %d×%d·%d×%d: (%d, %d) is %v, want the chain's %v", level.name, m, k, k, n, i, j,
							got.Row(i)[j], want)
					}
				}
			}
		}
	}
}

// TestNoAllocation checks that steps of training allocate nothing after the first step.
func TestNoAllocation(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	c := newCPU(2, fastest())
	thin := randomMatrix(r, 200, 2, 0)
	narrow := randomMatrix(r, 64, 2, 0)
	x, w, y := randomMatrix(r, 64, 200, 0), randomMatrix(r, 200, 100, 0), randomMatrix(r, 64, 100, 0)
	bias, norms := randomMatrix(r, 1, 100, 0), make([]float64, 64)
	s := &Sparse{Cols: 200, Offsets: []int{0, 2, 3}, Items: []uint32{5, 7, 9}}
	two := y.RowRange(0, 2)
	step := func() {
		c.Gemm(false, false, 1, x, w, 0, y)
		c.Gemm(false, false, 1, x, thin, 0, narrow)
		c.Gemm(true, false, 1, x, narrow, 0, thin)
		c.BiasApply(Tanh, y, bias)
		c.Gradient(Tanh, y, y)
		c.RowSquaredNorms(norms, y)
		c.Gemm(true, false, 1, x, y, 0, w)
		c.SparseGemm(s, w, 0, two)
		c.ColSums(nil, y, 0, bias)
		c.Adam(w, w, w, w, AdamStep{LR: 0.1, Beta1: 0.9, Beta2: 0.9, Eps: 1, T: 1})
	}
	step()
	if n := testing.AllocsPerRun(200, step); n > 0 {
		t.Errorf("%v allocations in a step, want 0", n)
	}
}

func BenchmarkGemm(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{600, 784, 400}, {600, 784, 200}, {64, 784, 200}, {64, 200, 64},
		{128, 784, 400}} {
		for _, form := range []string{"NN", "TN", "NT"} {
			for _, level := range available()[1:] {
				b.Run(fmt.Sprintf("%s_%dx%dx%d/%s", form, s[0], s[1], s[2], level.name), func(b *testing.B) {
					benchmarkGemm(b, r, newCPU(1, level), form, s[0], s[1], s[2])
				})
			}
		}
	}
}

// benchmarkGemm measures a product of the layer (batch×in)(in×out): its output (NN), or the
// gradient of its weights (TN) or of its input (NT).
func benchmarkGemm(b *testing.B, r *rand.Rand, c *cpu, form string, batch, in, out int) {
	x, w, y := randomMatrix(r, batch, in, 0), randomMatrix(r, in, out, 0),
		randomMatrix(r, batch, out, 0)
	b.ReportAllocs()
	for b.Loop() {
		switch form {
		case "NN":
			c.Gemm(false, false, 1, x, w, 0, y)
		case "TN":
			c.Gemm(true, false, 1, x, y, 0, w)
		case "NT":
			c.Gemm(false, true, 1, y, w, 0, x)
		}
	}
	b.ReportMetric(2*float64(batch*in*out)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}
