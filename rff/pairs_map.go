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
	// p may be one: see repeated.
	features(x, p device.Matrix)
	// backward sets its part of rows of dx to the derivatives of ⟨dp, φ⟩ + ½·own·‖φ‖² with respect to
	// the record, where φ is its code. Records have rows of dp and numbers of own.
	backward(x, dp device.Matrix, own []float32, dx device.Matrix)
	// list appends the indices and the values of the code's nonzero entries, given the nonzero
	// coordinates that the axis reads.
	list(in []int32, x []float32, places []int32, values []float32) ([]int32, []float32)
	// end returns the end of the range of coordinates of a record that the axis reads.
	end() int
}

// A term is the code of one axis, or the outer product of the codes of two axes, multiplied by
// scale.
type term struct {
	axes  []int
	scale float32
	size  int
	rows  int // levels of the first of two axes, or 1
}

// A pairsMap is the embedding of [Pairs]. It concatenates terms. It is computed on the host,
// because its rows are short loops and not matrix products. All single columns have the same scale,
// and all pairs of columns have the same scale.
type pairsMap struct {
	in, dim     int
	axes        []axis
	parts       []axis  // axes, and one of which all coordinates are the code
	every       []int   // all axes
	choices     []int   // the axes whose code is their coordinates
	numbers     []int   // the last part, then the other axes
	coordinates []int32 // every coordinate of a record
	at          []int   // offset of each part's code in a workspace, then the end of the last
	width       int     // length of all codes together
	terms       []term
	alone, both float64 // squared scales of single columns and of pairs
	pool        sync.Pool
	batch       sync.Pool // of *batchWork
}

func newPairsMap(in int, axes []axis) *pairsMap {
	t := &pairsMap{in: in, axes: axes, parts: append(axes, oneHot{0, in}), numbers: []int{len(axes)}}
	for i := range in {
		t.coordinates = append(t.coordinates, int32(i))
	}
	for k, a := range axes {
		t.at = append(t.at, t.width)
		t.width += a.width()
		t.every = append(t.every, k)
		if _, ok := a.(oneHot); ok {
			t.choices = append(t.choices, k)
		} else {
			t.numbers = append(t.numbers, k)
		}
	}
	t.at = append(t.at, t.width, t.width+in)
	return t
}

// add appends a term.
func (t *pairsMap) add(scale float64, axes ...int) {
	m := term{axes: axes, scale: roundDown(scale * (1 - guard)), size: 1, rows: 1}
	for _, k := range axes {
		m.size *= t.axes[k].width()
	}
	if square := float64(m.scale) * float64(m.scale); len(axes) == 1 {
		t.alone = square
	} else {
		t.both, m.rows = square, t.axes[axes[0]].width()
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

// workspace is the scratch memory of one goroutine for a row, or for a block of rows.
type workspace struct {
	listed  listed // for sparse rows
	places  []int32
	values  []float32
	own     [rowBlock]float32
	totals  [rowBlock]float64
	squares []float64 // of the codes of every axis, for every row
}

func (t *pairsMap) workspace() *workspace {
	if w, ok := t.pool.Get().(*workspace); ok {
		return w
	}
	return &workspace{squares: make([]float64, rowBlock*len(t.axes))}
}

// encode adds the codes of the given axes of every row of x to the row of p.
func (t *pairsMap) encode(x, p device.Matrix, axes []int) {
	for lo := 0; lo < x.Rows; lo += rowBlock {
		hi := min(lo+rowBlock, x.Rows)
		rows := x.RowRange(lo, hi)
		for _, k := range axes {
			t.parts[k].features(rows, p.Slice(lo, hi, t.at[k], t.at[k+1]))
		}
	}
}

// of returns the part of all that belongs to axis k. The slice all has a number for every entry of
// every code.
func (t *pairsMap) of(k int, all []float32) []float32 {
	return all[t.at[k]:t.at[k+1]]
}

// scaleTo sets dst to scale·src.
func scaleTo(dst, src []float32, scale float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = scale * v
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
			row := out.Row(i)
			clear(row)
			w.places, w.values = t.AppendRow(t.coordinates, x.Row(i), w.places[:0], w.values[:0])
			for k, at := range w.places {
				row[at] = w.values[k]
			}
		}
	})
	toDevice(be, dst, out)
}

// host multiplies what is in host memory.
var host = device.CPUWith(1)

// Backward implements [Embedding].
func (t *pairsMap) Backward(be device.Backend, x, delta, dx device.Matrix) {
	from, pull, out := hostCopy(be, x), hostCopy(be, delta), hostDst(be, dx)
	parallel(be, x.Rows, t.dim, func(lo, hi int) {
		w := t.takeWork(1)
		defer t.batch.Put(w)
		for i := lo; i < hi; i++ {
			t.spread(w, pull.Row(i))
			t.pullRows(host, w, 0, from.RowRange(i, i+1), 0, out.RowRange(i, i+1))
		}
	})
	toDevice(be, dx, out)
}
