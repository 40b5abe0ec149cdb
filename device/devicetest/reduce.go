package devicetest

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

func testRows(t *testing.T, b device.Backend) {
	x := newBench(t, b, 8)
	for range 60 {
		rows, cols := x.size(50), x.size(300)
		a, c := x.matrix(rows, cols), x.matrix(rows, cols)
		norms, dots := make([]float64, rows), make([]float64, rows)
		for i := range norms {
			norms[i], dots[i] = math.NaN(), math.NaN() // methods must set results, not add to them
		}
		x.b.RowSquaredNorms(norms, a.m)
		x.b.RowDots(dots, a.m, c.m)
		for i := range rows {
			square, product, size := 0.0, 0.0, 0.0
			for j := range cols {
				square += a.at(i, j) * a.at(i, j)
				product += a.at(i, j) * c.at(i, j)
				size += abs(a.at(i, j) * c.at(i, j))
			}
			if !near(norms[i], square, 1e-13*square) || !near(dots[i], product, 1e-13*size) {
				t.Fatalf("row %d of %d×%d: squared norm %v, dot %v, want %v, %v", i, rows, cols, norms[i],
					dots[i], square, product)
			}
		}
		x.scaleRows(rows, cols)
		x.colSums(rows, cols)
	}
}

// testNormRange checks that squares do not overflow or become zero, as they would in float32.
func testNormRange(t *testing.T, b device.Backend) {
	x := newBench(t, b, 9)
	for _, v := range []float64{1e30, 1e-30, math.MaxFloat32, 0x1p-140} {
		m := x.filled(3, 21, func() float64 { return v })
		norms := make([]float64, 3)
		x.b.RowSquaredNorms(norms, m.m)
		want := 21 * float64(float32(v)) * float64(float32(v))
		if !near(norms[1], want, 1e-13*want) {
			t.Fatalf("squared norm of 21 times %g is %g, want %g", v, norms[1], want)
		}
	}
	m := x.matrix(3, 9)
	m.host[9+4] = math.NaN()
	m = x.of(3, 9, m.host)
	norms := make([]float64, 3)
	x.b.RowSquaredNorms(norms, m.m)
	if norms[0] != norms[0] || norms[1] == norms[1] || norms[2] != norms[2] {
		t.Fatalf("squared norms %v, want NaN for the second row only", norms)
	}
}

func (x *bench) scaleRows(rows, cols int) {
	x.t.Helper()
	m, w := x.matrix(rows, cols), x.weights(rows)
	x.b.ScaleRows(m.m, w)
	m.want(x, "ScaleRows", func(i, j int) (float64, float64) {
		return m.at(i, j) * float64(w[i]), rounding(0, abs(m.at(i, j)*float64(w[i])))
	})
}

func (x *bench) weights(n int) []float32 {
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(x.r.NormFloat64())
	}
	return w
}

func (x *bench) colSums(rows, cols int) {
	x.t.Helper()
	for _, w := range [][]float32{nil, x.weights(rows)} {
		m, dst := x.matrix(rows, cols), x.matrix(1, cols)
		beta := factors[x.r.IntN(4)]
		x.b.ColSums(w, m.m, beta, dst.m)
		dst.want(x, "ColSums", func(_, j int) (float64, float64) {
			return dot(rows, 1, float64(beta)*dst.at(0, j), func(i int) (float64, float64) {
				if w == nil {
					return 1, m.at(i, j)
				}
				return float64(w[i]), m.at(i, j)
			})
		})
		m.unchanged(x, "ColSums")
	}
}

func testSoftmax(t *testing.T, b device.Backend) {
	x := newBench(t, b, 10)
	for range 40 {
		rows, cols := x.size(40), x.size(60)
		m := x.filled(rows, cols, func() float64 { return 30 * x.r.NormFloat64() })
		x.b.Softmax(m.m)
		m.want(x, "Softmax", func(i, j int) (float64, float64) {
			top, sum := math.Inf(-1), 0.0
			for l := range cols {
				top = max(top, m.at(i, l))
			}
			for l := range cols {
				sum += math.Exp(m.at(i, l) - top)
			}
			w := math.Exp(m.at(i, j)-top) / sum
			// The argument of exp is a rounded difference.
			return w, functionBound(w) + 2*unit*w*(abs(m.at(i, j)-top)+2)
		})
	}
	// Large entries do not overflow.
	m := x.of(1, 2, []float64{3e38, 3e38})
	x.b.Softmax(m.m)
	m.want(x, "Softmax of large numbers", func(i, j int) (float64, float64) { return 0.5, 2 * unit })
}
