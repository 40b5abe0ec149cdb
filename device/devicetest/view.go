package devicetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// sentinel fills memory that methods must not change.
const sentinel = 12345.5

// view is a matrix of a backend that is part of a larger matrix, together with its numbers in host
// memory.
type view struct {
	backend    device.Backend
	whole      device.Matrix
	m          device.Matrix
	r0, c0     int
	rows, cols int
	host       []float64 // the numbers as uploaded, row by row
}

// bench creates views with random numbers.
type bench struct {
	t *testing.T
	b device.Backend
	r *rand.Rand
}

func newBench(t *testing.T, b device.Backend, seed uint64) *bench {
	return &bench{t: t, b: b, r: rand.New(rand.NewPCG(seed, 20))}
}

// matrix returns a rows×cols view, sometimes with margins, that holds standard normal numbers.
func (x *bench) matrix(rows, cols int) *view {
	return x.filled(rows, cols, func() float64 { return x.r.NormFloat64() })
}

func (x *bench) filled(rows, cols int, next func() float64) *view {
	numbers := make([]float64, rows*cols)
	for i := range numbers {
		numbers[i] = float64(float32(next()))
	}
	return x.of(rows, cols, numbers)
}

// of returns a view with the given numbers.
func (x *bench) of(rows, cols int, numbers []float64) *view {
	v := &view{backend: x.b, rows: rows, cols: cols, host: numbers}
	bottom, right := 0, 0
	if x.r.IntN(3) > 0 {
		v.r0, v.c0, bottom, right = x.r.IntN(3), x.r.IntN(10), x.r.IntN(3), x.r.IntN(10)
	}
	v.whole = x.b.New(v.r0+rows+bottom, v.c0+cols+right)
	all := make([]float32, v.whole.Rows*v.whole.Cols)
	for i := range all {
		all[i] = sentinel
	}
	for i := range rows {
		for j := range cols {
			all[(v.r0+i)*v.whole.Cols+v.c0+j] = float32(numbers[i*cols+j])
		}
	}
	x.b.Upload(v.whole, all)
	v.m = v.whole.Slice(v.r0, v.r0+rows, v.c0, v.c0+cols)
	return v
}

// at returns element (i, j) as uploaded.
func (v *view) at(i, j int) float64 { return v.host[i*v.cols+j] }

// want checks that each element of the matrix on the backend is within a bound of its reference
// value. The margins must still hold the sentinel.
func (v *view) want(x *bench, what string, reference func(i, j int) (value, bound float64)) {
	x.t.Helper()
	all := make([]float32, v.whole.Rows*v.whole.Cols)
	v.backend.Download(all, v.whole)
	for i := range v.whole.Rows {
		for j := range v.whole.Cols {
			got := float64(all[i*v.whole.Cols+j])
			r, c := i-v.r0, j-v.c0
			if r < 0 || r >= v.rows || c < 0 || c >= v.cols {
				if got != sentinel {
					x.t.Fatalf("%s: wrote outside its %d×%d destination, at (%d, %d)", what, v.rows, v.cols, r, c)
				}
				continue
			}
			if value, bound := reference(r, c); !near(got, value, bound) {
				x.t.Fatalf("%s: (%d, %d) of %d×%d is %v, want %v within %.3g", what, r, c, v.rows, v.cols, got,
					value, bound)
			}
		}
	}
}

// unchanged checks that an operand still holds the numbers that were uploaded.
func (v *view) unchanged(x *bench, what string) {
	x.t.Helper()
	v.want(x, what+": operand", func(i, j int) (float64, float64) { return v.at(i, j), 0 })
}

// rowSquare returns the squared norm of row i as uploaded.
func (v *view) rowSquare(i int) float64 {
	sum := 0.0
	for j := range v.cols {
		sum += v.at(i, j) * v.at(i, j)
	}
	return sum
}

// poisoned returns a slice for n results, filled with NaN, because methods must set results, not
// add to them.
func (x *bench) poisoned(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// near reports whether got differs from value by at most bound. NaN matches NaN, and an infinity
// matches itself.
func near(got, value, bound float64) bool {
	switch {
	case math.IsNaN(value):
		return math.IsNaN(got)
	case math.IsInf(value, 0):
		return got == value
	}
	return math.Abs(got-value) <= bound
}

const (
	unit     = 0x1p-24  // half a unit in the last place of numbers near one
	smallest = 0x1p-149 // the smallest subnormal number
)

// rounding returns a bound on the error of a sum of k products whose absolute values add up to
// size.
func rounding(k int, size float64) float64 { return float64(k+8)*unit*size + smallest }

// size draws a dimension up to most: often tiny, often close to a power of two, sometimes zero.
func (x *bench) size(most int) int {
	switch x.r.IntN(4) {
	case 0:
		return min(x.r.IntN(5), most)
	case 1:
		return min(max(1<<x.r.IntN(9)-1+x.r.IntN(3), 0), most)
	default:
		return x.r.IntN(most + 1)
	}
}
