package rff

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
)

// validateOnly returns every mistake in the list of pairs that does not depend on a layout.
func (c Pairs) validateOnly() (errs []error) {
	if len(c.Only) > 0 && c.Order == 1 {
		errs = append(errs, param.New("rff.Pairs.Only", len(c.Only), "no pairs for order 1"))
	}
	if c.Only != nil && len(c.Only) == 0 {
		errs = append(errs, param.New("rff.Pairs.Only", "no pairs", "nil, or order 1 for no pairs"))
	}
	for i, p := range c.Only {
		if p[0] < 0 || p[1] <= p[0] || i > 0 && !before(c.Only[i-1], p) {
			return append(errs, param.New(fmt.Sprintf("rff.Pairs.Only[%d]", i), p,
				"columns i < j, and pairs in ascending order without duplicates"))
		}
	}
	return errs
}

// before reports whether pair a precedes pair b.
func before(a, b [2]int) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }

// checkColumns returns an error if the list names a column that the layout does not have.
func (c Pairs) checkColumns(l Layout) error {
	columns := len(l.Blocks)
	if columns == 0 {
		columns = l.In
	}
	for i, p := range c.Only {
		if p[1] >= columns {
			return param.New(fmt.Sprintf("rff.Pairs.Only[%d]", i), p,
				fmt.Sprintf("columns below %d, the number of columns", columns))
		}
	}
	return nil
}

// someTensor is a sparseTensor with some of the pairs of columns. Its sums take time proportional
// to the number of pairs, and not to the square of the number of columns.
type someTensor struct {
	sparseTensor
	others [][]int // for each axis, the axes with which it forms pairs
	starts []int   // for each term, the index of its first feature
}

func newSomeTensor(t *tensor) someTensor {
	s := someTensor{newSparseTensor(t), make([][]int, len(t.axes)), make([]int, len(t.terms))}
	at := 0
	for k, m := range t.terms {
		s.starts[k] = at
		at += m.size
		if len(m.axes) == 2 {
			a, b := m.axes[0], m.axes[1]
			s.others[a], s.others[b] = append(s.others[a], b), append(s.others[b], a)
		}
	}
	return s
}

// Sum implements [BatchEmbedding].
func (t someTensor) Sum(be device.Backend, x, dst device.Matrix) {
	w := t.batch.take(x.Rows, t.width)
	defer t.batch.pool.Put(w)
	codes := w.codes.RowRange(0, x.Rows)
	t.encode(be, x, codes)
	be.ColSums(nil, codes, 0, w.single)
	out, starts := dst.Row(0), t.starts
	parallel(be, len(t.terms), x.Rows, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			t.sumTerm(w, t.terms[k], codes, out[starts[k]:starts[k]+t.terms[k].size])
		}
	})
}

// sumTerm sets dst to the sum of one term over all rows.
func (t someTensor) sumTerm(w *batchWork, m term, codes device.Matrix, dst []float32) {
	if len(m.axes) == 1 {
		t.gather(w, m, dst)
		return
	}
	clear(dst)
	for i := range codes.Rows {
		row := codes.Row(i)
		second := t.of(m, 1, row)
		for k, v := range t.of(m, 0, row) {
			if v != 0 {
				addScaled(dst[k*len(second):(k+1)*len(second)], second, v)
			}
		}
	}
	scaleTo(dst, dst, m.scale)
}

// addScaled adds f·src to dst.
func addScaled(dst, src []float32, f float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] += f * v
	}
}

// PullBack implements [BatchEmbedding].
func (t someTensor) PullBack(be device.Backend, x, pull device.Matrix, own float32,
	dx device.Matrix) {
	w := t.batch.take(x.Rows, t.width)
	defer t.batch.pool.Put(w)
	codes, slopes := w.codes.RowRange(0, x.Rows), w.slopes.RowRange(0, x.Rows)
	t.encode(be, x, codes)
	in, starts := pull.Row(0), t.starts
	w.turn(t.dim)
	for k, m := range t.terms {
		if len(m.axes) == 2 {
			transpose(w.turned[starts[k]:starts[k]+m.size], in[starts[k]:starts[k]+m.size], m.widths[1])
		}
	}
	parallel(be, x.Rows, t.dim, func(lo, hi int) {
		energy := make([]float32, len(t.axes))
		for i := lo; i < hi; i++ {
			p, dp := codes.Row(i), slopes.Row(i)
			clear(dp)
			for k, m := range t.terms {
				first, last := starts[k], starts[k]+m.size
				t.slope(m, in[first:last], w.turned[first:last], p, dp)
			}
			t.pullSome(x.Row(i), p, dp, own, energy, dx.Row(i))
		}
	})
}

// transpose sets dst to the transpose of a matrix with the given number of columns.
func transpose(dst, src []float32, columns int) {
	rows := len(src) / columns
	for i := range rows {
		for j, v := range src[i*columns : (i+1)*columns] {
			dst[j*rows+i] = v
		}
	}
}

// slope adds the derivative of one term with respect to the codes p to dp. The argument turned is
// the pull, transposed. Most codes of numbers are zero, and their rows of both matrices are
// skipped.
func (t someTensor) slope(m term, pull, turned, p, dp []float32) {
	first := t.of(m, 0, dp)
	if len(m.axes) == 1 {
		addScaled(first, pull, m.scale)
		return
	}
	second := t.of(m, 1, dp)
	addRows(second, pull, t.of(m, 0, p), m.scale)
	addRows(first, turned, t.of(m, 1, p), m.scale)
}

// addRows adds f·code[i] times row i of a matrix to dst, for every i.
func addRows(dst, matrix, code []float32, f float32) {
	for i, v := range code {
		if v != 0 {
			addScaled(dst, matrix[i*len(dst):(i+1)*len(dst)], f*v)
		}
	}
}

// pullSome adds to dp the derivative of ½·own·‖φ‖² with respect to the codes, and propagates dp to
// coordinates; see pullRow. For each axis, only the axes with which it forms pairs count.
func (t someTensor) pullSome(x, p, dp []float32, own float32, energy, dx []float32) {
	for k, a := range t.axes {
		energy[k] = float32(squared(p[t.at[k] : t.at[k]+a.width()]))
	}
	clear(dx)
	for k, a := range t.axes {
		lo, hi := t.at[k], t.at[k]+a.width()
		total := 0.0
		for _, o := range t.others[k] {
			total += float64(energy[o])
		}
		addScaled(dp[lo:hi], p[lo:hi], own*float32(t.alone+t.both*total))
		a.backward(x, dp[lo:hi], dx)
	}
}
