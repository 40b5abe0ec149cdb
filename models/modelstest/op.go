package modelstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/models"
)

// Op checks an operation on operands of the given widths. Its results must depend on one record's
// operands and key alone, whatever is called before or at the same time; -race says more about the
// latter. Backward must add the
// derivatives of Forward, which should be smooth almost everywhere. No numbers may cause a panic,
// and NaN may not be hidden.
func Op(t testing.TB, op models.Op, widths ...int) {
	t.Helper()
	o := &operation{op: op, widths: widths, rng: rand.New(rand.NewPCG(1, 2))}
	first(t, o.sizes, o.repeatable, o.oddNumbers, o.slopes, o.repeatable)
}

type operation struct {
	op      models.Op
	widths  []int
	in, out int // numbers of all operands, and results
	rng     *rand.Rand
	before  string // the operation's memory, before the first record
	wrong   string // what a call has done although it must not
}

// A call holds the arguments for one record, all operands behind each other, and what they lead to.
type call struct {
	x, dy, y, dx []float32
	key          uint64
}

// draw returns a call with random arguments.
func (o *operation) draw(number func() float64) *call {
	return o.run(&call{x: row(o.in, number), dy: row(o.out, o.rng.NormFloat64), key: o.rng.Uint64()})
}

func (o *operation) run(c *call) *call {
	c.y = o.forward(c)
	c.dx = o.backward(c, 0)
	for i, v := range o.backward(c, 8) {
		if want := float64(c.dx[i]) + 8; math.Abs(float64(v)-want) > 1e-5*(8+math.Abs(want)) {
			o.wrong = "Backward does not add to what dx holds"
		}
	}
	return c
}

func row(n int, number func() float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(number())
	}
	return x
}

// lend calls do with a copy of the numbers, which it overwrites afterwards.
func (o *operation) lend(x []float32, do func(x []float32)) {
	own := slices.Clip(slices.Clone(x))
	if do(own); !same(x, own) {
		o.wrong = "it changes x, y or dy"
	}
	for i := range own {
		own[i] = o.rng.Float32()
	}
}

// same reports whether all bits are equal.
func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(v, w float32) bool {
		return math.Float32bits(v) == math.Float32bits(w)
	})
}

// split returns views of the numbers of every operand.
func (o *operation) split(x []float32) (rows [][]float32) {
	for _, n := range o.widths {
		rows, x = append(rows, x[:n:n]), x[n:]
	}
	return rows
}

func (o *operation) forward(c *call) []float32 {
	y := make([]float32, o.out)
	o.lend(c.x, func(x []float32) { o.op.Forward(y, c.key, o.split(x)...) })
	return y
}

// backward returns dx, whose numbers are start at first.
func (o *operation) backward(c *call, start float32) []float32 {
	dx := slices.Repeat([]float32{start}, o.in)
	o.lend(slices.Concat(c.dy, c.y, c.x), func(all []float32) {
		dy, y, x := all[:o.out:o.out], all[o.out:2*o.out:2*o.out], all[2*o.out:]
		o.op.Backward(o.split(dx), dy, y, c.key, o.split(x)...)
	})
	return dx
}

func (o *operation) sizes() string {
	for _, n := range o.widths {
		o.in += n
	}
	if o.out = o.op.Out(o.widths...); o.out <= 0 || o.op.Out(o.widths...) != o.out {
		return "Out does not return a positive number that depends on the widths alone"
	}
	o.before = fmt.Sprintf("%+v", o.op)
	set := make([]bool, o.out)
	for range 50 {
		for i, v := range o.draw(o.rng.NormFloat64).y {
			set[i] = set[i] || v != 0
		}
	}
	if i := slices.Index(set, false); i >= 0 {
		return fmt.Sprintf("Forward never sets result %d of the %d that Out states", i, o.out)
	}
	return ""
}

// odd are numbers that a record may hold although it should not.
var odd = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 3e38, -3e38, 1e-45, 0, -1, 1, 1e9, -1e9}

func (o *operation) oddNumbers() string {
	before := []*call{o.draw(o.rng.NormFloat64)}
	for k := range 200 {
		o.draw(func() float64 { return odd[k%len(odd)] })
		o.draw(func() float64 { return odd[o.rng.IntN(1+k%len(odd))] })
	}
	return o.again(before)
}

// repeatable calls the operation for several records in several orders, at last on several cores.
func (o *operation) repeatable() string {
	var calls []*call
	for i := range 4 {
		c := o.draw(o.rng.NormFloat64)
		c.key = uint64(i / 2)
		calls = append(calls, o.run(c))
	}
	for _, cores := range []int{1, 4} {
		var group sync.WaitGroup
		found := make([]string, cores)
		for k := range found {
			own := *o
			own.rng = rand.New(rand.NewPCG(3, uint64(k)))
			group.Go(func() {
				defer caught(&found[k])
				for start := time.Now(); found[k] == ""; {
					found[k] = own.again(calls)
					if cores == 1 || time.Since(start) > atOnce {
						break
					}
				}
			})
		}
		if group.Wait(); slices.Max(found) != "" {
			return slices.Max(found)
		}
		if fmt.Sprintf("%+v", o.op) != o.before {
			return "it writes to memory of its own, which all records and cores share"
		}
	}
	return ""
}

func (o *operation) again(calls []*call) string {
	const because = "depend on other calls, or on random numbers besides the key"
	for range 100 {
		if o.wrong != "" {
			return o.wrong
		}
		for _, i := range o.rng.Perm(len(calls)) {
			if !same(o.forward(calls[i]), calls[i].y) {
				return "results " + because
			}
		}
		for _, i := range o.rng.Perm(len(calls)) {
			if !same(o.backward(calls[i], 0), calls[i].dx) {
				return "derivatives " + because
			}
		}
	}
	return ""
}

func (o *operation) slopes() string {
	for trial := range 30 {
		scale := math.Exp2(float64(trial%3*2 - 1))
		c := o.draw(func() float64 { return scale * o.rng.NormFloat64() })
		for _, i := range o.rng.Perm(o.in)[:min(o.in, 48)] {
			if wrong := o.slope(c, i); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

// slope compares the derivative of number i with differences, at three points, one of which may be
// a kink. Where it is not 0, NaN must reach the results.
func (o *operation) slope(c *call, i int) string {
	for range 3 {
		size, at := 0.0, call{x: slices.Clone(c.x), key: c.key}
		loss := func(h float64) (sum float64) {
			at.x[i] = c.x[i] + float32(h)
			for j, v := range o.forward(&at) {
				sum += float64(c.dy[j]) * float64(v)
			}
			return sum
		}
		for j, v := range c.y {
			size += math.Abs(float64(c.dy[j]) * float64(v))
		}
		if c.dx[i] != 0 && !math.IsNaN(loss(math.NaN())) {
			return fmt.Sprintf("Forward turns NaN, in number %d of the operands, into numbers", i)
		}
		if agree(loss, float64(c.dx[i]), .01*math.Abs(float64(c.dx[i])), 1e-6*size) {
			return ""
		}
		x := slices.Clone(c.x)
		add(x, .1, row(o.in, o.rng.NormFloat64))
		c = o.run(&call{x: x, dy: c.dy, key: c.key})
	}
	return fmt.Sprintf("the derivative of number %d of the operands differs from differences of Forward", i)
}

// agree compares a slope with differences at several distances: f curves, and is rounded.
func agree(f func(h float64) float64, slope, slack, rounding float64) bool {
	for _, h := range []float64{1e-2, 3e-3, 3e-2, 1e-3, 3e-4, 1e-1} {
		if math.Abs((f(h)-f(-h))/(2*h)-slope) <= slack+rounding/h {
			return true
		}
	}
	return false
}
