package devicetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// factors holds the tested values of α and β.
var factors = [4]float32{1, 0, -1, 0.37}

// Product checks one product of an m×k and a k×n matrix. The bits of form select transposes, α and
// β; seed determines strides and numbers. Product is exported for fuzzing.
func Product(t *testing.T, b device.Backend, m, n, k int, form uint8, seed uint64) {
	t.Helper()
	x := newBench(t, b, seed)
	x.product(m, n, k, form&1 != 0, form&2 != 0, factors[form>>2&3], factors[form>>4&3])
}

func (x *bench) product(m, n, k int, transA, transB bool, alpha, beta float32) {
	x.t.Helper()
	a, b, c := x.oriented(m, k, transA), x.oriented(k, n, transB), x.matrix(m, n)
	what := fmt.Sprintf("Gemm %d×%d·%d×%d transA=%v transB=%v α=%v β=%v", m, k, k, n, transA, transB,
		alpha, beta)
	x.b.Gemm(transA, transB, alpha, a.m, b.m, beta, c.m)
	c.want(x, what, func(i, j int) (float64, float64) {
		return dot(k, float64(alpha), float64(beta)*c.at(i, j), func(l int) (float64, float64) {
			return element(a, transA, i, l), element(b, transB, l, j)
		})
	})
	a.unchanged(x, what)
	b.unchanged(x, what)
}

// oriented returns a rows×cols matrix, or a cols×rows matrix if transposed is set.
func (x *bench) oriented(rows, cols int, transposed bool) *view {
	if transposed {
		rows, cols = cols, rows
	}
	return x.matrix(rows, cols)
}

func element(v *view, transposed bool, i, j int) float64 {
	if transposed {
		i, j = j, i
	}
	return v.at(i, j)
}

// dot returns start + α Σ xy, computed in float64, and a bound on the error of the same sum in
// float32.
func dot(k int, alpha, start float64, term func(l int) (float64, float64)) (value, bound float64) {
	size := math.Abs(start)
	value = start
	for l := range k {
		p, q := term(l)
		v := alpha * p * q
		value, size = value+v, size+math.Abs(v)
	}
	return value, rounding(k, size)
}

func testProducts(t *testing.T, b device.Backend) {
	x := newBench(t, b, 1)
	for range 300 {
		x.product(x.size(90), x.size(90), x.size(300), x.r.IntN(2) == 0, x.r.IntN(2) == 0,
			factors[x.r.IntN(4)], factors[x.r.IntN(4)])
	}
	for form := range 4 {
		transA, transB := form&1 != 0, form&2 != 0
		for _, s := range [][3]int{{600, 130, 70}, {70, 600, 40}, {40, 40, 2500}, {257, 65, 513},
			{1, 300, 300}, {300, 1, 300}, {300, 300, 1}} {
			x.product(s[0], s[1], s[2], transA, transB, 1, float32(form&1))
		}
		for thin := range 6 {
			x.product(thin, 97, 45, transA, transB, 1, 1)
			x.product(97, thin, 45, transA, transB, 1, 0)
			x.product(97, 45, thin, transA, transB, 1, 0)
		}
	}
}

// testProductNaN puts one NaN into A. It checks that the row of this NaN in the result is NaN, and
// that no other row is. With β = 0, the product must overwrite NaN in C.
func testProductNaN(t *testing.T, b device.Backend) {
	x := newBench(t, b, 2)
	for _, s := range [][3]int{{9, 33, 20}, {40, 3, 17}, {1, 5, 5}, {65, 80, 300}} {
		m, n, k := s[0], s[1], s[2]
		for _, transB := range []bool{false, true} {
			a, w := x.matrix(m, k), x.oriented(k, n, transB)
			bad := x.r.IntN(m)
			a.host[bad*k+x.r.IntN(k)] = math.NaN()
			a = x.of(m, k, a.host)
			c := x.filled(m, n, math.NaN)
			x.b.Gemm(false, transB, 1, a.m, w.m, 0, c.m)
			c.want(x, "Gemm with NaN", func(i, j int) (float64, float64) {
				if i == bad {
					return math.NaN(), 0
				}
				return dot(k, 1, 0, func(l int) (float64, float64) {
					return a.at(i, l), element(w, transB, l, j)
				})
			})
		}
	}
}
