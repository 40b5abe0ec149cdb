package models

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// attentionUnit is softmax(QKᵀ/√d)V for each head of a record, whose queries, keys and values are
// its operands. Source: Vaswani et al., "Attention Is All You Need", 2017.
type attentionUnit struct {
	queries, keys int // positions
	width, wide   int // numbers of a query and a key, and of a value
	heads         int
	causal        bool // position p sees keys 0 to p
}

func (u *attentionUnit) out() int { return u.queries * u.wide }

// head returns head h of record i as a matrix with a row for each position.
func (u *attentionUnit) head(m device.Matrix, i, h, positions int) device.Matrix {
	width := m.Cols / positions
	d := width / u.heads
	return m.RowRange(i, i+1).Reshape(positions, width).Slice(0, positions, h*d, (h+1)*d)
}

// scores returns memory for the scores of all heads, and a view of those of one head.
func (u *attentionUnit) scores(t *pass, n *node, k int) (all device.Matrix,
	of func(i, h int) device.Matrix) {
	m := t.keep(n, k, u.heads*u.queries*u.keys)
	each := u.queries * u.keys
	return m.Reshape(m.Rows*u.heads*u.queries, u.keys), func(i, h int) device.Matrix {
		return m.Slice(i, i+1, h*each, (h+1)*each).Reshape(u.queries, u.keys)
	}
}

func (u *attentionUnit) each(t *pass, do func(i, h int)) {
	for i := range t.rows {
		for h := range u.heads {
			do(i, h)
		}
	}
}

func (u *attentionUnit) factor() float32 {
	return float32(1 / math.Sqrt(float64(u.width)/float64(u.heads)))
}

// padding and later are what is added to scores of keys that a query must not see. A query that has
// nothing but padding to see gives equal weights to it.
const padding, later = -1e30, -2e30

func (u *attentionUnit) forward(t *pass, n *node) {
	q, k, v := t.operand(n, 0), t.operand(n, 1), t.operand(n, 2)
	all, of := u.scores(t, n, 1)
	t.be.Fill(all, 0)
	u.pad(t, n, all, padding)
	if u.causal {
		rows := all.Reshape(t.rows*u.heads, u.queries*u.keys)
		for p := range min(u.queries, u.keys-1) {
			t.be.Fill(rows.Slice(0, rows.Rows, p*u.keys+p+1, (p+1)*u.keys), later)
		}
	}
	u.each(t, func(i, h int) {
		t.be.Gemm(false, true, u.factor(), u.head(q, i, h, u.queries), u.head(k, i, h, u.keys), 1,
			of(i, h))
	})
	t.be.Softmax(all)
	u.each(t, func(i, h int) {
		t.be.Gemm(false, false, 1, of(i, h), u.head(v, i, h, u.keys), 0,
			u.head(t.value(n), i, h, u.queries))
	})
}

// pad sets the scores of keys that are padding.
func (u *attentionUnit) pad(t *pass, n *node, scores device.Matrix, to float32) {
	if len(n.from) == 3 {
		return
	}
	present, each := toHost(t.be, t.operand(n, 3), nil), u.heads*u.queries
	for i := range t.rows {
		for k, v := range present.Row(i) {
			if v <= 0 {
				t.be.Fill(scores.Slice(i*each, (i+1)*each, k, k+1), to)
			}
		}
	}
}

func (u *attentionUnit) backward(t *pass, n *node) {
	q, k, v, dy := t.operand(n, 0), t.operand(n, 1), t.operand(n, 2), t.delta(n)
	p, of := u.scores(t, n, 1)
	ds, dOf := u.scores(t, n, 2)
	u.each(t, func(i, h int) {
		t.be.Gemm(false, true, 1, u.head(dy, i, h, u.queries), u.head(v, i, h, u.keys), 0, dOf(i, h))
	})
	t.softmaxGradient(p, ds)
	u.pad(t, n, ds, 0)
	u.give(t, n, 0, u.queries, func(i, h int, beta float32, dq device.Matrix) {
		t.be.Gemm(false, false, u.factor(), dOf(i, h), u.head(k, i, h, u.keys), beta, dq)
	})
	u.give(t, n, 1, u.keys, func(i, h int, beta float32, dk device.Matrix) {
		t.be.Gemm(true, false, u.factor(), dOf(i, h), u.head(q, i, h, u.queries), beta, dk)
	})
	u.give(t, n, 2, u.keys, func(i, h int, beta float32, dv device.Matrix) {
		t.be.Gemm(true, false, 1, of(i, h), u.head(dy, i, h, u.queries), beta, dv)
	})
}

// give calls set for every head of the derivative with respect to operand k.
func (u *attentionUnit) give(t *pass, n *node, k, positions int,
	set func(i, h int, beta float32, dx device.Matrix)) {
	if dx, add := t.give(n, k); dx.Rows > 0 {
		u.each(t, func(i, h int) { set(i, h, beta(add), u.head(dx, i, h, positions)) })
	}
}
