package models

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// denseUnit is y = f(xW + b), at every position of a record.
type denseUnit struct {
	places      int // positions; 0 means 1
	width, wide int
	f           device.Func
	// slope is the function whose derivative backward multiplies by: f, or Identity if the derivative
	// that arrives is the one before f.
	slope device.Func
}

// dense adds dense layers with function f to x.
func (g *sketch) dense(x *node, f device.Func, widths ...int) *node {
	for _, wide := range widths {
		x = g.add(&denseUnit{width: x.width, wide: wide, f: f, slope: f}, x)
	}
	return x
}

func (u *denseUnit) out() int { return max(u.places, 1) * u.wide }

func (u *denseUnit) blocks(gain float64) []block {
	return []block{{name: "weight", rows: u.width, cols: u.wide, std: root(gain, u.width)},
		{name: "bias", rows: 1, cols: u.wide}}
}

// root returns the standard deviation of initial weights of variance gain/fan-in.
func root(gain float64, fanIn int) float64 { return math.Sqrt(gain / float64(max(fanIn, 1))) }

// at returns m with one row for each position.
func (u *denseUnit) at(m device.Matrix, width int) device.Matrix {
	if u.places <= 1 {
		return m
	}
	return m.Reshape(m.Rows*u.places, width)
}

func (u *denseUnit) forward(t *pass, n *node) {
	y, w := u.at(t.value(n), u.wide), t.blocks[n.first]
	if x := t.sparse(n); x != nil {
		t.be.SparseGemm(x, w, 0, y)
	} else {
		t.be.Gemm(false, false, 1, u.at(t.operand(n, 0), u.width), w, 0, y)
	}
	t.be.BiasApply(u.f, y, t.blocks[n.first+1])
}

// sparse returns the records that n reads, if they are sparse.
func (t *pass) sparse(n *node) *device.Sparse {
	if n.from[0].id == 0 {
		return t.x.sparse
	}
	return nil
}

func (u *denseUnit) backward(t *pass, n *node) {
	dx, add := t.give(n, 0)
	u.back(t, n, t.value(n), t.delta(n), dx, add)
}

// back turns delta, the derivative with respect to the value y, into the derivative before f.
// Unless dx is the zero Matrix, it sets dx to the derivative with respect to the operand, or adds
// it.
func (u *denseUnit) back(t *pass, n *node, y, delta, dx device.Matrix, add bool) {
	t.be.Gradient(u.slope, delta, y)
	if dx.Rows > 0 {
		t.be.Gemm(false, true, 1, u.at(delta, u.wide), t.blocks[n.first], beta(add), u.at(dx, u.width))
	}
}

// tangent sets v to the Jacobian at the value y times x.
func (u *denseUnit) tangent(t *pass, n *node, y, x, v device.Matrix) {
	t.be.Gemm(false, false, 1, x, t.blocks[n.first], 0, v)
	t.be.Gradient(u.f, v, y)
}

// inputGradient sets dx to the derivative with respect to the operand, given the derivative before
// f.
func (u *denseUnit) inputGradient(t *pass, n *node, delta, dx device.Matrix) {
	t.be.Gemm(false, true, 1, delta, t.blocks[n.first], 0, dx)
}

func beta(add bool) float32 {
	if add {
		return 1
	}
	return 0
}

func (u *denseUnit) uses(t *pass, n *node, list []use) []use {
	return append(list, use{weight: n.first, bias: n.first + 1, rows: max(u.places, 1) * t.parts,
		a: u.at(t.operand(n, 0), u.width), d: u.at(t.delta(n), u.wide), sparse: t.sparse(n)})
}

func uploadNormals(be device.Backend, m device.Matrix, rng *rand.Rand, std float64) {
	values := make([]float32, m.Rows*m.Cols)
	for i := range values {
		values[i] = float32(std * rng.NormFloat64())
	}
	be.Upload(m, values)
}

func clearNonFinite(be device.Backend, row device.Matrix, norm []float64) {
	be.RowSquaredNorms(norm, row)
	if !(norm[0] <= math.MaxFloat64) {
		be.Fill(row, 0)
	}
}

// A record holds the input of a first layer: records as dense rows or as sparse sets.
type record struct {
	dense  device.Matrix
	sparse *device.Sparse
}

// funcUnit is y = f(x).
type funcUnit struct {
	width int
	f     device.Func
}

// apply adds f as a unit of its own.
func (g *sketch) apply(f device.Func, x *node) *node {
	return g.add(&funcUnit{width: x.width, f: f}, x)
}

func (u *funcUnit) out() int { return u.width }

func (u *funcUnit) forward(t *pass, n *node) { t.be.Apply(u.f, t.value(n), t.operand(n, 0)) }

func (u *funcUnit) backward(t *pass, n *node) {
	t.pull(n, 0, func(dx device.Matrix) { u.tangent(t, n, t.value(n), t.delta(n), dx) })
}

// tangent sets v to x times the derivative of f at the value y.
func (u *funcUnit) tangent(t *pass, _ *node, y, x, v device.Matrix) {
	t.be.Apply(device.Identity, v, x)
	t.be.Gradient(u.f, v, y)
}
