package rff

import (
	"github.com/seed7ba64551/privgen/device"
)

// A BatchEmbedding can sum the features of a batch and propagate derivatives of the sum without
// storing the features of single records. The cost of training a generator then depends on the
// width of the column codes, not on Dim.
type BatchEmbedding interface {
	Embedding
	// Sum sets dst to the sum of the features of the rows of x.
	//
	// Shapes: x is rows × In, dst 1 × Dim, both on the host.
	Sum(be device.Backend, x, dst device.Matrix)
	// PullBack sets row i of dx to J(xᵢ)ᵀ·(pull + own·φ(xᵢ)), where J is the derivative of the
	// features with respect to the record. Backward gives the same result if row i of its delta is
	// pull + own·φ(xᵢ).
	//
	// Shapes: x and dx are rows × In, pull is 1 × Dim, all on the host.
	PullBack(be device.Backend, x, pull device.Matrix, own float32, dx device.Matrix)
}

// batchWork is the scratch memory of one call. It holds the codes of all columns of all rows, their
// products and their derivatives.
type batchWork struct {
	codes, slopes device.Matrix // rows × width
	products      device.Matrix // width × width
	single        device.Matrix // 1 × width
	record        device.Matrix // 1 × In
}

func (t *pairsMap) takeWork(rows int) *batchWork {
	w, _ := t.batch.Get().(*batchWork)
	if w == nil {
		all := hostZeros(1, t.width+t.in)
		w = &batchWork{single: all, record: all.Slice(0, 1, t.width, t.width+t.in)}
	}
	if t.both > 0 && w.codes.Rows < rows {
		w.codes, w.slopes = hostZeros(rows, t.width), hostZeros(rows, t.width)
		w.products = hostZeros(t.width, t.width)
	}
	return w
}

func hostZeros(rows, cols int) device.Matrix {
	return device.HostMatrix(rows, cols, make([]float32, rows*cols))
}

// encoded writes the codes of records into rows of w.codes, from the given one.
func (t *pairsMap) encoded(w *batchWork, first int, x device.Matrix) device.Matrix {
	codes := w.codes.RowRange(first, first+x.Rows)
	clear(codes.Data)
	t.encode(x, codes, t.every)
	return codes
}

// repeated returns a matrix whose rows are all the same numbers.
func repeated(rows int, row device.Matrix) device.Matrix {
	row.Rows, row.Stride = rows, 0
	return row
}

// Sum implements [BatchEmbedding]. It computes the sum of all outer products of codes as one matrix
// product. Without products it sums coordinates instead of the codes of choices.
func (t *pairsMap) Sum(be device.Backend, x, dst device.Matrix) {
	w := t.takeWork(x.Rows)
	defer t.batch.Put(w)
	if t.both > 0 {
		parallel(be, x.Rows, t.width, func(lo, hi int) { t.encoded(w, lo, x.RowRange(lo, hi)) })
		codes := w.codes.RowRange(0, x.Rows)
		be.ColSums(nil, codes, 0, w.single.Slice(0, 1, 0, t.width))
		be.Gemm(true, false, 1, codes, codes, 0, w.products)
	} else {
		be.Fill(w.single, 0)
		parallel(be, len(t.numbers), 4*x.Rows, func(lo, hi int) {
			t.encode(x, repeated(x.Rows, w.single), t.numbers[lo:hi])
		})
		t.encode(w.record, w.single, t.choices)
	}
	out := dst.Row(0)
	for _, m := range t.terms {
		for i := range m.rows {
			from := t.sums(w, m, i)
			scaleTo(out, from, m.scale)
			out = out[len(from):]
		}
	}
}

// sums returns the numbers of row i of a term, whose rows are levels of its first axis.
func (t *pairsMap) sums(w *batchWork, m term, i int) []float32 {
	if len(m.axes) == 1 {
		return t.of(m.axes[0], w.single.Data)
	}
	return t.of(m.axes[1], w.products.Row(t.at[m.axes[0]]+i))
}

// PullBack implements [BatchEmbedding].
func (t *pairsMap) PullBack(be device.Backend, x, pull device.Matrix, own float32,
	dx device.Matrix) {
	w := t.takeWork(x.Rows)
	defer t.batch.Put(w)
	t.spread(w, pull.Row(0))
	parallel(be, x.Rows, t.width, func(lo, hi int) {
		t.pullRows(be, w, lo, x.RowRange(lo, hi), own, dx.RowRange(lo, hi))
	})
}

// spread writes the pull to the positions at which axes read it.
func (t *pairsMap) spread(w *batchWork, pull []float32) {
	clear(w.products.Data)
	for _, m := range t.terms {
		for i := range m.rows {
			to := t.sums(w, m, i)
			scaleTo(to, pull[:len(to)], m.scale)
			for j := 0; len(m.axes) == 2 && j < len(to); j++ {
				w.products.Row(t.at[m.axes[1]] + j)[t.at[m.axes[0]]+i] = to[j]
			}
			pull = pull[len(to):]
		}
	}
	for _, k := range t.choices {
		copy(w.record.Data[t.axes[k].(oneHot).at:], t.of(k, w.single.Data))
	}
}

// pullRows is PullBack for a part of the rows, from the given one.
func (t *pairsMap) pullRows(be device.Backend, w *batchWork, first int, x device.Matrix,
	own float32, dx device.Matrix) {
	codes, slopes, axes := device.Matrix{}, repeated(x.Rows, w.single), t.numbers
	if t.both > 0 {
		codes, slopes, axes = t.encoded(w, first, x), w.slopes.RowRange(first, first+x.Rows), t.every
		be.Gemm(false, false, 1, codes, w.products, 0, slopes)
		be.BiasApply(device.Identity, slopes, w.single.Slice(0, 1, 0, t.width))
	}
	scratch := t.workspace()
	defer t.pool.Put(scratch)
	for lo := 0; lo < x.Rows; lo += rowBlock {
		hi := min(lo+rowBlock, x.Rows)
		scratch.weigh(t, codes, lo, hi, own)
		for _, k := range axes {
			for i := lo; t.both > 0 && i < hi; i++ {
				others := scratch.totals[i-lo] - scratch.squares[k*rowBlock+i-lo]
				scratch.own[i-lo] = own * float32(t.alone+t.both*others)
			}
			t.parts[k].backward(x.RowRange(lo, hi), slopes.Slice(lo, hi, t.at[k], t.at[k+1]),
				scratch.own[:], dx.RowRange(lo, hi))
		}
	}
}

// weigh computes the squares of the codes of rows lo to hi−1. The derivative of ½·own·‖φ‖² with
// respect to the code p of a column is own·p·(s₁² + Σ s²‖p′‖²), where the sum is over the codes p′
// of the other columns.
func (w *workspace) weigh(t *pairsMap, codes device.Matrix, lo, hi int, own float32) {
	for i := range hi - lo {
		w.totals[i], w.own[i] = 0, own*float32(t.alone)
		for k := 0; t.both > 0 && k < len(t.axes); k++ {
			square := squared(t.of(k, codes.Row(lo+i)))
			w.squares[k*rowBlock+i] = square
			w.totals[i] += square
		}
	}
}

func squared(p []float32) float64 {
	var s float32
	for _, v := range p {
		s += v * v
	}
	return float64(s)
}
