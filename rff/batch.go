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
}

// batchPool keeps the scratch memory of one embedding for later calls.
type batchPool struct{ pool sync.Pool }

func (p *batchPool) take(rows, width int) *batchWork {
	w, _ := p.pool.Get().(*batchWork)
	if w == nil {
		w = &batchWork{single: hostZeros(1, width)}
	}
	if w.codes.Rows < rows {
		w.codes, w.slopes = hostZeros(rows, width), hostZeros(rows, width)
	}
	return w
}

// square makes room for products.
func (w *batchWork) square(width int) {
	if w.products.Rows < width {
		w.products = hostZeros(width, width)
	}
}

func hostZeros(rows, cols int) device.Matrix {
	return device.HostMatrix(rows, cols, make([]float32, rows*cols))
}

// encode writes the codes of every record into a row of codes.
func (t *pairsMap) encode(be device.Backend, x, codes device.Matrix) {
	parallel(be, x.Rows, t.width, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			t.project(x.Row(i), codes.Row(i))
		}
	})
}

// Sum implements [BatchEmbedding]. It computes the sum of all outer products of codes as one matrix
// product.
func (t *pairsMap) Sum(be device.Backend, x, dst device.Matrix) {
	w := t.batch.take(x.Rows, t.width)
	defer t.batch.pool.Put(w)
	codes := w.codes.RowRange(0, x.Rows)
	t.encode(be, x, codes)
	be.ColSums(nil, codes, 0, w.single)
	if t.both > 0 {
		w.square(t.width)
		be.Gemm(true, false, 1, codes, codes, 0, w.products)
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
	from, width := t.at[last], t.axes[last].width()
	if len(m.axes) == 1 {
		scaleTo(dst, w.single.Row(0)[from:from+width], m.scale)
		return
	}
	for i := range t.axes[first].width() {
		scaleTo(dst[i*width:(i+1)*width], w.products.Row(t.at[first] + i)[from:from+width], m.scale)
	}
}

// PullBack implements [BatchEmbedding].
func (t *pairsMap) PullBack(be device.Backend, x, pull device.Matrix, own float32,
	dx device.Matrix) {
	w := t.batch.take(x.Rows, t.width)
	defer t.batch.pool.Put(w)
	codes, slopes := w.codes.RowRange(0, x.Rows), w.slopes.RowRange(0, x.Rows)
	t.encode(be, x, codes)
	if t.both > 0 {
		w.square(t.width)
		be.Fill(w.products, 0)
	}
	in := pull.Row(0)
	for _, m := range t.terms {
		t.scatter(w, m, in[:m.size])
		in = in[m.size:]
	}
	if t.both > 0 {
		be.Gemm(false, false, 1, codes, w.products, 0, slopes)
	} else {
		be.Fill(slopes, 0)
	}
	be.BiasApply(device.Identity, slopes, w.single)
	parallel(be, x.Rows, t.width, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			t.pullRow(x.Row(i), codes.Row(i), slopes.Row(i), own, dx.Row(i))
		}
	})
}

// scatter writes one term's pull to the positions at which its axes read it.
func (t *pairsMap) scatter(w *batchWork, m term, pull []float32) {
	first, last := m.axes[0], m.axes[len(m.axes)-1]
	from, width := t.at[last], t.axes[last].width()
	if len(m.axes) == 1 {
		scaleTo(w.single.Row(0)[from:from+width], pull, m.scale)
		return
	}
	for i := range t.axes[first].width() {
		row := pull[i*width : (i+1)*width]
		scaleTo(w.products.Row(t.at[first] + i)[from:from+width], row, m.scale)
		for j, v := range row {
			w.products.Row(from + j)[t.at[first]+i] = m.scale * v
		}
	}
}

// pullRow adds to dp the derivative of ½·own·‖φ‖² with respect to the codes. For the code p of a
// column this is own·p·(s₁² + Σ s²‖p′‖²), where the sum is over the codes p′ of the other columns.
// It then propagates dp from codes to coordinates.
func (t *pairsMap) pullRow(x, p, dp []float32, own float32, dx []float32) {
	total := 0.0
	for k := 0; t.both > 0 && k < len(t.axes); k++ {
		total += squared(t.of(k, p))
	}
	clear(dx)
	for k, a := range t.axes {
		lo, hi := t.at[k], t.at[k]+a.width()
		weight := t.alone
		if t.both > 0 {
			weight += t.both * (total - squared(p[lo:hi]))
		}
		f := own * float32(weight)
		for j, v := range p[lo:hi] {
			dp[lo+j] += f * v
		}
		a.backward(x, dp[lo:hi], dx)
	}
}

func squared(p []float32) float64 {
	var s float32
	for _, v := range p {
		s += v * v
	}
	return float64(s)
}
