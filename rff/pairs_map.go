package rff

import (
	"math"
	"sync"

	"github.com/seed7ba64551/privgen/device"
)

// An axis maps the coordinates of one column to a short vector of norm at most 1, the column's
// code. The map is differentiable.
type axis interface {
	width() int
	// features adds the code of every row of x to the row of p, which has width columns. All rows of
	// p may be one: see sumsOf.
	features(x, p device.Matrix)
	// backward sets its part of rows of dx to the derivatives of ⟨dp, φ⟩ + ½·own·‖φ‖² with respect to the record,
	// where φ is its code. Records have rows of dp and numbers of own.
	backward(x, dp device.Matrix, own []float32, dx device.Matrix)
	// list appends the indices and the values of the code's nonzero entries, given the nonzero
	// coordinates that the axis reads.
	list(in []int32, x []float32, places []int32, values []float32) ([]int32, []float32)
	// span returns the range of coordinates of a record that the axis reads.
	span() (lo, hi int)
}

// A term is the code of one axis, or the outer product of the codes of two axes, multiplied by
// scale.
type term struct {
	axes  []int
	scale float32
	size  int
}

// A pairsMap is the embedding of [Pairs]. It concatenates terms. It is computed on the host,
// because its rows are short loops and not matrix products. All single columns have the same scale,
// and all pairs of columns have the same scale.
type pairsMap struct {
	in, dim     int
	axes        []axis
	numbers     []int // axes of numbers, choices: the others, and all of them
	choices     []int
	every       []int
	at          []int // offset of each axis's code in a workspace, then the end of the last
	width       int   // length of all codes together
	terms       []term
	alone, both float64 // squared scales of single columns and of pairs
	pool        sync.Pool
	batch       batchPool
}

func newPairsMap(in int, axes []axis) *pairsMap {
	t := &pairsMap{in: in, axes: axes, at: make([]int, 1, len(axes)+1)}
	for k, a := range axes {
		t.width += a.width()
		t.at = append(t.at, t.width)
		t.every = append(t.every, k)
		if _, ok := a.(oneHot); ok {
			t.choices = append(t.choices, k)
		} else {
			t.numbers = append(t.numbers, k)
		}
	}
	return t
}

// add appends a term.
func (t *pairsMap) add(scale float64, axes ...int) {
	m := term{axes: axes, scale: roundDown(scale * (1 - guard)), size: 1}
	for _, k := range axes {
		m.size *= t.axes[k].width()
	}
	if square := float64(m.scale) * float64(m.scale); len(axes) == 1 {
		t.alone = square
	} else {
		t.both = square
	}
	t.dim += m.size
	t.terms = append(t.terms, m)
}

// roundDown returns the largest float32 up to v. v must be positive.
func roundDown(v float64) float32 {
	f := float32(v)
	if float64(f) > v {
		f = math.Nextafter32(f, 0)
	}
	return f
}

// In returns the width of a record.
func (t *pairsMap) In() int { return t.in }

// Dim returns the number of features.
func (t *pairsMap) Dim() int { return t.dim }

// NormBound returns the largest norm of a record's features.
func (t *pairsMap) NormBound() float64 { return 1 }

// ChangeBound returns the largest distance between two records' features.
func (t *pairsMap) ChangeBound() float64 { return math.Sqrt2 }

// rowBlock is the number of rows from which an axis reads its coordinates at a time.
const rowBlock = 32

// workspace is the scratch memory of one goroutine for one row, or for a block of rows.
type workspace struct {
	p, dp       []float32 // codes of all axes; derivative with respect to them
	left, dleft []float32 // a term's first code times its scale; derivative with respect to it
	listed      listed    // for sparse rows
	own         [rowBlock]float32
	totals      [rowBlock]float64
	squares     []float64 // of the codes of every axis, for every row
}

func (t *pairsMap) workspace() *workspace {
	if w, ok := t.pool.Get().(*workspace); ok {
		return w
	}
	floats := func() []float32 { return make([]float32, t.width) }
	return &workspace{p: floats(), dp: floats(), left: floats(), dleft: floats(),
		squares: make([]float64, rowBlock*len(t.axes))}
}

// project writes the code of every axis to p.
func (t *pairsMap) project(x, p []float32) {
	clear(p)
	t.encode(hostRow(x), hostRow(p), t.every)
}

func hostRow(x []float32) device.Matrix { return device.HostMatrix(1, len(x), x) }

// encode adds the codes of the given axes of every row of x to the row of p.
func (t *pairsMap) encode(x, p device.Matrix, axes []int) {
	for lo := 0; lo < x.Rows; lo += rowBlock {
		hi := min(lo+rowBlock, x.Rows)
		rows := x.RowRange(lo, hi)
		for _, k := range axes {
			t.axes[k].features(rows, p.Slice(lo, hi, t.at[k], t.at[k+1]))
		}
	}
}

// of returns the part of all that belongs to axis k. The slice all has a number for every entry of
// every code.
func (t *pairsMap) of(k int, all []float32) []float32 {
	return all[t.at[k]:t.at[k+1]]
}

func (t *pairsMap) forward(w *workspace, x, dst []float32) {
	t.project(x, w.p)
	for _, m := range t.terms {
		left := t.of(m.axes[0], w.p)
		if len(m.axes) == 1 {
			scaleTo(dst[:m.size], left, m.scale)
		} else {
			scaled := w.left[:len(left)]
			scaleTo(scaled, left, m.scale)
			outer(dst[:m.size], scaled, t.of(m.axes[1], w.p))
		}
		dst = dst[m.size:]
	}
}

func (t *pairsMap) backward(w *workspace, x, delta, dx []float32) {
	t.project(x, w.p)
	clear(w.dp)
	for _, m := range t.terms {
		down := delta[:m.size]
		if left := t.of(m.axes[0], w.p); len(m.axes) == 2 {
			scaled := w.left[:len(left)]
			scaleTo(scaled, left, m.scale)
			down = w.dleft[:len(left)]
			contract(delta[:m.size], scaled, t.of(m.axes[1], w.p), down, t.of(m.axes[1], w.dp))
		}
		for j, d := range down {
			t.of(m.axes[0], w.dp)[j] += d * m.scale
		}
		delta = delta[m.size:]
	}
	t.pullBack(w, hostRow(x), hostRow(w.p), hostRow(w.dp), 0, t.every, hostRow(dx))
}

// scaleTo sets dst to scale·src.
func scaleTo(dst, src []float32, scale float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = scale * v
	}
}

// outer sets dst to a⊗b. It skips the multiplications for zeros of a.
func outer(dst, a, b []float32) {
	for i, v := range a {
		row := dst[i*len(b) : (i+1)*len(b)]
		if v == 0 {
			clear(row)
			continue
		}
		for j, u := range b {
			row[j] = v * u
		}
	}
}

// contract sets da to the derivative of ⟨delta, a⊗b⟩ with respect to a, and adds the derivative
// with respect to b to db.
func contract(delta, a, b, da, db []float32) {
	for i, v := range a {
		row := delta[i*len(b) : (i+1)*len(b)]
		var s float32
		for j, d := range row {
			s += d * b[j]
		}
		da[i] = s
		if v == 0 {
			continue
		}
		for j, d := range row {
			db[j] += d * v
		}
	}
}

// Transform implements [Embedding].
func (t *pairsMap) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	x := hostRows(be, b)
	out := hostDst(be, dst)
	parallel(be, b.Rows, t.dim, func(lo, hi int) {
		w := t.workspace()
		defer t.pool.Put(w)
		for i := lo; i < hi; i++ {
			t.forward(w, x.Row(i), out.Row(i))
		}
	})
	toDevice(be, dst, out)
}

// Backward implements [Embedding].
func (t *pairsMap) Backward(be device.Backend, x, delta, dx device.Matrix) {
	from, pull, out := hostCopy(be, x), hostCopy(be, delta), hostDst(be, dx)
	parallel(be, x.Rows, t.dim, func(lo, hi int) {
		w := t.workspace()
		defer t.pool.Put(w)
		for i := lo; i < hi; i++ {
			t.backward(w, from.Row(i), pull.Row(i), out.Row(i))
		}
	})
	toDevice(be, dx, out)
}
