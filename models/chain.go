package models

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// A unit is one step of a chain: it turns a row of in() numbers into a row of out() numbers, with
// its parameters and an element-wise function. A unit stores no data of a batch; a walk does.
type unit interface {
	in() int
	out() int
	shapes(name string) []device.Shape
	// bind makes the unit read its parameters from these blocks.
	bind(blocks []device.Matrix)
	// initialise draws weights such that outputs have the scale of inputs times √gain.
	initialise(rng *rand.Rand, gain float64)
	// forward sets y to the output for x.
	forward(w *walk, l int, x, y device.Matrix)
	// backward replaces delta, the derivative with respect to the output y, with the derivative that
	// addNorms and addSum take. Unless dx is the zero Matrix, it sets dx to the derivative with
	// respect to x.
	backward(w *walk, l int, x, y, delta, dx device.Matrix)
	// addNorms adds to dst, for each record, the squared norm of the gradient with respect to the
	// unit's parameters.
	addNorms(w *walk, x, delta device.Matrix, dst []float64)
	// addSum adds the weighted sum of the gradients to blocks; nil weights mean that all weights are
	// 1.
	addSum(w *walk, l int, x, delta device.Matrix, weights []float32, blocks []device.Matrix)
	// layer describes the unit without In and Out.
	layer() Layer
}

// A chain is a sequence of units. Each unit owns its parameter blocks.
type chain struct {
	be     device.Backend
	units  []unit
	blocks []int // index of each unit's first block, then the number of blocks
}

func newChain(be device.Backend, units ...unit) *chain {
	c := &chain{be: be, units: units, blocks: []int{0}}
	for i, u := range units {
		if i > 0 && u.in() != units[i-1].out() {
			panic(fmt.Sprintf("models: unit %d takes %d numbers, not %d", i, u.in(), units[i-1].out()))
		}
		c.blocks = append(c.blocks, c.blocks[i]+len(u.shapes("")))
	}
	return c
}

func (c *chain) in() int  { return c.units[0].in() }
func (c *chain) out() int { return c.units[len(c.units)-1].out() }

func (c *chain) shapes(prefix string) []device.Shape {
	var list []device.Shape
	for i, u := range c.units {
		list = append(list, u.shapes(fmt.Sprintf("%s.%d", prefix, i))...)
	}
	return list
}

func (c *chain) bind(p device.Params, first int) {
	for i, u := range c.units {
		u.bind(c.of(p, first, i))
	}
}

// of lists the blocks of unit i.
func (c *chain) of(p device.Params, first, i int) []device.Matrix {
	var list []device.Matrix
	for k := c.blocks[i]; k < c.blocks[i+1]; k++ {
		list = append(list, p.Block(first+k))
	}
	return list
}

// initialise gives the last unit with parameters a gain of 1 and all units before it the given
// gain.
func (c *chain) initialise(rng *rand.Rand, gain float64) {
	for i, u := range c.units {
		if c.blocks[i+1] == c.blocks[len(c.units)] {
			gain = 1
		}
		u.initialise(rng, gain)
	}
}

// denseUnit is y = f(xW + b).
type denseUnit struct {
	be           device.Backend
	width, wide  int
	f            device.Func
	weight, bias device.Matrix
}

func (u *denseUnit) in() int  { return u.width }
func (u *denseUnit) out() int { return u.wide }

func (u *denseUnit) shapes(name string) []device.Shape {
	return []device.Shape{{Name: name + ".weight", Rows: u.width, Cols: u.wide},
		{Name: name + ".bias", Rows: 1, Cols: u.wide}}
}

func (u *denseUnit) bind(blocks []device.Matrix) { u.weight, u.bias = blocks[0], blocks[1] }

func (u *denseUnit) initialise(rng *rand.Rand, gain float64) {
	uploadNormals(u.be, u.weight, rng, root(gain, u.width))
}

func (u *denseUnit) forward(_ *walk, _ int, x, y device.Matrix) {
	u.be.Gemm(false, false, 1, x, u.weight, 0, y)
	u.be.BiasApply(u.f, y, u.bias)
}

func (u *denseUnit) backward(_ *walk, _ int, _, y, delta, dx device.Matrix) {
	u.be.Gradient(u.f, delta, y)
	if dx.Rows > 0 {
		u.be.Gemm(false, true, 1, delta, u.weight, 0, dx)
	}
}

func (u *denseUnit) addNorms(w *walk, x, delta device.Matrix, dst []float64) {
	a, d := w.bounds(x, delta)
	for i := range dst {
		dst[i] += (a[i] + 1) * d[i]
	}
}

func (u *denseUnit) addSum(w *walk, _ int, x, delta device.Matrix, weights []float32,
	blocks []device.Matrix) {
	if u.width <= u.wide {
		u.be.Gemm(true, false, 1, w.scaled(x, weights), delta, 1, blocks[0])
	} else {
		u.be.Gemm(true, false, 1, x, w.scaled(delta, weights), 1, blocks[0])
	}
	u.be.ColSums(weights, delta, 1, blocks[1])
}
