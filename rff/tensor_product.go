package rff

import (
	"math"
	"sync"

	"github.com/seed7ba64551/privgen/device"
)

// An axis maps a few coordinates of a record to a short vector of norm at most 1. The map is
// differentiable.
type axis interface {
	width() int
	// features writes the axis's features of the record x to p, which has length width.
	features(x, p []float32)
	// backward adds to dx the derivative of ⟨dp, features⟩ with respect to the record.
	backward(x, dp, dx []float32)
}

// A term is the outer product of the first features of its axes, multiplied by scale.
type term struct {
	axes   []int
	widths []int // for each axis, the number of its first features in the product
	scale  float32
	size   int
}

// maxAxes is the largest number of axes that a term multiplies.
const maxAxes = 3

// A tensor is an embedding that concatenates terms. It is computed on the host, because its rows
// are short loops and not matrix products.
type tensor struct {
	in, dim      int
	axes         []axis
	at           []int // offset of each axis's features in a workspace
	width        int   // number of features of all axes together
	terms        []term
	scratch      int // length of the longest partial product
	norm, change float64
	pool         sync.Pool
}

func newTensor(in int, axes []axis, norm, change float64) *tensor {
	t := &tensor{in: in, axes: axes, norm: norm, change: change, scratch: 1}
	for _, a := range axes {
		t.at = append(t.at, t.width)
		t.width += a.width()
	}
	return t
}

// add appends a term, the product of the first features of some axes.
func (t *tensor) add(scale float64, widths []int, axes ...int) {
	m := term{axes: axes, widths: widths, scale: roundDown(scale * (1 - guard)), size: 1}
	for i, w := range widths {
		m.size *= w
		if i+1 < len(widths) {
			t.scratch = max(t.scratch, m.size)
		}
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
func (t *tensor) In() int { return t.in }

// Dim returns the number of features.
func (t *tensor) Dim() int { return t.dim }

// NormBound returns the largest norm of a record's features.
func (t *tensor) NormBound() float64 { return t.norm }

// ChangeBound returns the largest distance between two records' features.
func (t *tensor) ChangeBound() float64 { return t.change }

// workspace is the scratch memory of one goroutine for one row.
type workspace struct {
	p, dp     []float32 // features of all axes; derivative with respect to them
	pre, pre2 [maxAxes][]float32
	listed    listed // for sparse rows
}

func (t *tensor) workspace() *workspace {
	if w, ok := t.pool.Get().(*workspace); ok {
		return w
	}
	w := &workspace{p: make([]float32, t.width), dp: make([]float32, t.width)}
	for i := range w.pre {
		w.pre[i], w.pre2[i] = make([]float32, t.scratch), make([]float32, t.scratch)
	}
	return w
}

// project computes the features of every axis.
func (t *tensor) project(w *workspace, x []float32) {
	for i, a := range t.axes {
		a.features(x, w.p[t.at[i]:t.at[i]+a.width()])
	}
}

// of returns the part of all that belongs to factor k of a term; all has a number for every feature
// of every axis.
func (t *tensor) of(m term, k int, all []float32) []float32 {
	at := t.at[m.axes[k]]
	return all[at : at+m.widths[k]]
}

// partial returns the product of the scale and all factors of a term except the last.
func (t *tensor) partial(w *workspace, m term) []float32 {
	pre := w.pre[0][:1]
	pre[0] = m.scale
	for k := range len(m.axes) - 1 {
		factor := t.of(m, k, w.p)
		next := w.pre[k+1][:len(pre)*len(factor)]
		outer(next, pre, factor)
		pre = next
	}
	return pre
}

func (t *tensor) forward(w *workspace, x, dst []float32) {
	t.project(w, x)
	for _, m := range t.terms {
		outer(dst[:m.size], t.partial(w, m), t.of(m, len(m.axes)-1, w.p))
		dst = dst[m.size:]
	}
}

func (t *tensor) backward(w *workspace, x, delta, dx []float32) {
	t.project(w, x)
	clear(w.dp)
	for _, m := range t.terms {
		t.backTerm(w, m, delta[:m.size])
		delta = delta[m.size:]
	}
	clear(dx)
	for i, a := range t.axes {
		a.backward(x, w.dp[t.at[i]:t.at[i]+a.width()], dx)
	}
}

// backTerm adds a term's derivative with respect to its factors to w.dp, the last factor first.
func (t *tensor) backTerm(w *workspace, m term, delta []float32) {
	t.partial(w, m)
	size := m.size
	for k := len(m.axes) - 1; k >= 0; k-- {
		size /= m.widths[k]
		down := w.pre2[k][:size]
		clear(down)
		contract(delta, w.pre[k][:size], t.of(m, k, w.p), down, t.of(m, k, w.dp))
		delta = down
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

// contract adds to da and db the derivatives of ⟨delta, a⊗b⟩ with respect to a and b.
func contract(delta, a, b, da, db []float32) {
	for i, v := range a {
		row := delta[i*len(b) : (i+1)*len(b)]
		var s float32
		for j, d := range row {
			s += d * b[j]
		}
		da[i] += s
		if v == 0 {
			continue
		}
		for j, d := range row {
			db[j] += d * v
		}
	}
}

// Transform implements [Embedding].
func (t *tensor) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
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
func (t *tensor) Backward(be device.Backend, x, delta, dx device.Matrix) {
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
