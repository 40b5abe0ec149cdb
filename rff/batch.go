package rff

import (
	"sync"

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

// batchPool keeps the scratch memory of one embedding for later calls.
type batchPool struct{ pool sync.Pool }

func (t *pairsMap) takeWork(rows int) *batchWork {
	w, _ := t.batch.pool.Get().(*batchWork)
	if w == nil {
		w = &batchWork{single: hostZeros(1, t.width), record: hostZeros(1, t.in)}
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

// encoded writes the codes of every record into a row of the result.
func (t *pairsMap) encoded(be device.Backend, w *batchWork, x device.Matrix) device.Matrix {
	codes := w.codes.RowRange(0, x.Rows)
	be.Fill(codes, 0)
	parallel(be, x.Rows, t.width, func(lo, hi int) {
		t.encode(x.RowRange(lo, hi), codes.RowRange(lo, hi), t.every)
	})
	return codes
}

// sumsOf returns a matrix whose rows are all the same numbers.
func sumsOf(rows int, row device.Matrix) device.Matrix {
	row.Rows, row.Stride = rows, 0
	return row
}

// Sum implements [BatchEmbedding]. It computes the sum of all outer products of codes as one matrix
// product. Without products it sums coordinates instead of the codes of choices.
func (t *pairsMap) Sum(be device.Backend, x, dst device.Matrix) {
	w := t.takeWork(x.Rows)
	defer t.batch.pool.Put(w)
	if t.both > 0 {
		codes := t.encoded(be, w, x)
		be.ColSums(nil, codes, 0, w.single)
		be.Gemm(true, false, 1, codes, codes, 0, w.products)
	} else {
		be.Fill(w.single, 0)
		be.ColSums(nil, x, 0, w.record)
		t.encode(w.record, w.single, t.choices)
		parallel(be, len(t.numbers), 4*x.Rows, func(lo, hi int) {
			t.encode(x, sumsOf(x.Rows, w.single), t.numbers[lo:hi])
		})
	}
	out := dst.Row(0)
	for _, m := range t.terms {
		t.gather(w, m, out[:m.size])
		out = out[m.size:]
	}
}

// gather copies one term's sums to dst.
func (t *pairsMap) gather(w *batchWork, m term, dst []float32) {
	first, last := m.axes[0], m.axes[len(m.axes)-1]
	from, width := t.at[last], t.at[last+1]-t.at[last]
	if len(m.axes) == 1 {
		scaleTo(dst, w.single.Row(0)[from:from+width], m.scale)
		return
	}
	for i := range t.at[first+1] - t.at[first] {
		scaleTo(dst[i*width:(i+1)*width], w.products.Row(t.at[first] + i)[from:from+width], m.scale)
	}
}

// PullBack implements [BatchEmbedding].
func (t *pairsMap) PullBack(be device.Backend, x, pull device.Matrix, own float32,
	dx device.Matrix) {
	w := t.takeWork(x.Rows)
	defer t.batch.pool.Put(w)
	if t.both > 0 {
		be.Fill(w.products, 0)
	}
	in := pull.Row(0)
	for _, m := range t.terms {
		t.scatter(w, m, in[:m.size])
		in = in[m.size:]
	}
	codes, slopes := device.Matrix{}, sumsOf(x.Rows, w.single)
	if t.both > 0 {
		codes, slopes = t.encoded(be, w, x), w.slopes.RowRange(0, x.Rows)
		be.Gemm(false, false, 1, codes, w.products, 0, slopes)
		be.BiasApply(device.Identity, slopes, w.single)
	} else {
		for _, k := range t.choices {
			copy(w.record.Data[t.axes[k].(oneHot).at:], t.of(k, w.single.Data))
		}
	}
	parallel(be, x.Rows, t.width, func(lo, hi int) {
		scratch := t.workspace()
		defer t.pool.Put(scratch)
		for ; lo < hi; lo += rowBlock {
			end := min(lo+rowBlock, hi)
			x, dp, dx := x.RowRange(lo, end), slopes.RowRange(lo, end), dx.RowRange(lo, end)
			if t.both > 0 {
				t.pullBack(scratch, x, codes.RowRange(lo, end), dp, own, t.every, dx)
				continue
			}
			for i := range scratch.own {
				scratch.own[i] = own * float32(t.alone)
			}
			oneHot{0, t.in}.backward(x, sumsOf(x.Rows, w.record), scratch.own[:], dx)
			t.pullBack(scratch, x, device.Matrix{}, dp, own, t.numbers, dx)
		}
	})
}

// scatter writes one term's pull to the positions at which its axes read it.
func (t *pairsMap) scatter(w *batchWork, m term, pull []float32) {
	first, last := m.axes[0], m.axes[len(m.axes)-1]
	from, width := t.at[last], t.at[last+1]-t.at[last]
	if len(m.axes) == 1 {
		scaleTo(w.single.Row(0)[from:from+width], pull, m.scale)
		return
	}
	for i := range t.at[first+1] - t.at[first] {
		row := pull[i*width : (i+1)*width]
		scaleTo(w.products.Row(t.at[first] + i)[from:from+width], row, m.scale)
		for j, v := range row {
			w.products.Row(from + j)[t.at[first]+i] = m.scale * v
		}
	}
}

// pullBack sets rows of dx to the derivatives with respect to the coordinates, given those with
// respect to the codes p, which are dp plus the derivative of ½·own·‖φ‖². For the code p of a column
// this is own·p·(s₁² + Σ s²‖p′‖²), where the sum is over the codes p′ of the other columns.
func (t *pairsMap) pullBack(w *workspace, x, p, dp device.Matrix, own float32, axes []int,
	dx device.Matrix) {
	for i := range x.Rows {
		w.totals[i], w.own[i] = 0, own*float32(t.alone)
	}
	for k := 0; t.both > 0 && k < len(t.axes); k++ {
		for i := range x.Rows {
			square := squared(t.of(k, p.Row(i)))
			w.squares[k*rowBlock+i] = square
			w.totals[i] += square
		}
	}
	for _, k := range axes {
		for i := 0; t.both > 0 && i < x.Rows; i++ {
			w.own[i] = own * float32(t.alone+t.both*(w.totals[i]-w.squares[k*rowBlock+i]))
		}
		t.axes[k].backward(x, dp.Slice(0, x.Rows, t.at[k], t.at[k+1]), w.own[:], dx)
	}
}

func squared(p []float32) float64 {
	var s float32
	for _, v := range p {
		s += v * v
	}
	return float64(s)
}
