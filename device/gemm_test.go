package device

import (
	"fmt"
	"math"
	"math/rand/v2"
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

func TestGemmSmoke(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, level := range available() {
		c := newCPU(2, level)
		t.Run(level.name, func(t *testing.T) { testGemm(t, r, c) })
	}
}

func testGemm(t *testing.T, r *rand.Rand, c *cpu) {
	for range 1000 {
		m, n, k := r.IntN(70), r.IntN(70), r.IntN(600)
		ta, tb := r.IntN(2) == 0, r.IntN(2) == 0
		a, b := randomMatrix(r, m, k, r.IntN(3)), randomMatrix(r, k, n, r.IntN(3))
		if ta {
			a = randomMatrix(r, k, m, r.IntN(3))
		}
		if tb {
			b = randomMatrix(r, n, k, r.IntN(3))
		}
		out := randomMatrix(r, m, n, r.IntN(3))
		old := append([]float32(nil), out.Data...)
		alpha, beta := float32(r.IntN(3))-1, float32(r.IntN(3))/2
		c.Gemm(ta, tb, alpha, a, b, beta, out)
		at := func(i, l int) float32 {
			if ta {
				return a.Data[l*a.Stride+i]
			}
			return a.Data[i*a.Stride+l]
		}
		bt := func(l, j int) float32 {
			if tb {
				return b.Data[j*b.Stride+l]
			}
			return b.Data[l*b.Stride+j]
		}
		for i := range m {
			for j := range n {
				want := float64(beta) * float64(old[i*out.Stride+j])
				for l := range k {
					want += float64(alpha) * float64(at(i, l)) * float64(bt(l, j))
				}
				if got := float64(out.Data[i*out.Stride+j]); math.Abs(got-want) > 1e-4*math.Sqrt(float64(k)+1) {
					t.Fatalf("%dx%dx%d %v %v: (%d,%d) = %v, want %v", m, k, n, ta, tb, i, j, got, want)
				}
			}
		}
	}
}

func BenchmarkGemm(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{600, 784, 400}, {600, 784, 200}, {64, 784, 200}, {64, 200, 64}, {128, 784, 400}} {
		for _, form := range []string{"NN", "TN", "NT"} {
			for _, level := range available()[1:] {
				b.Run(fmt.Sprintf("%s_%dx%dx%d/%s", form, s[0], s[1], s[2], level.name), func(b *testing.B) {
					benchmarkGemm(b, r, newCPU(1, level), form, s[0], s[1], s[2])
				})
			}
		}
	}
}

// benchmarkGemm takes the layer (batch×in)(in×out) and measures its output (NN), the gradient of its weights (TN) or of its input (NT).
func benchmarkGemm(b *testing.B, r *rand.Rand, c *cpu, form string, batch, in, out int) {
	x, w, y := randomMatrix(r, batch, in, 0), randomMatrix(r, in, out, 0), randomMatrix(r, batch, out, 0)
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
