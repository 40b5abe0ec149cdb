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

// positions returns record i as a matrix with a row for each position.
func positions(m device.Matrix, i, count int) device.Matrix {
	return m.RowRange(i, i+1).Reshape(count, m.Cols/count)
}

// head returns head h of a record.
func (u *attentionUnit) head(m device.Matrix, h int) device.Matrix {
	d := m.Cols / u.heads
	return m.Slice(0, m.Rows, h*d, (h+1)*d)
}

// scores returns memory for the scores of all heads.
func (u *attentionUnit) scores(t *pass, n *node, k int) device.Matrix {
	m := t.keep(n, k, u.heads*u.queries*u.keys)
	return m.Reshape(m.Rows*u.heads*u.queries, u.keys)
}

// of returns the scores of head h of a record.
func (u *attentionUnit) of(scores device.Matrix, h int) device.Matrix {
	return scores.RowRange(h*u.queries, (h+1)*u.queries)
}

func (u *attentionUnit) factor() float32 {
	return float32(1 / math.Sqrt(float64(u.width)/float64(u.heads)))
}

// padding and later are what is added to scores of keys that a query must not see. A query that has
// nothing but padding to see gives equal weights to it.
const padding, later = -1e30, -2e30

func (u *attentionUnit) forward(t *pass, n *node) {
	q, k, v := t.operand(n, 0), t.operand(n, 1), t.operand(n, 2)
	all := u.scores(t, n, 1)
	present, first := u.present(t, n), t.memory(n, 3, u.heads*u.queries, u.keys)
	u.start(t, first)
	t.share(t.rows, func(i int) {
		q, k, v := positions(q, i, u.queries), positions(k, i, u.keys), positions(v, i, u.keys)
		y, p := positions(t.value(n), i, u.queries), u.record(all, i)
		t.be.Apply(device.Identity, p, first)
		u.pad(t, present, p, i, padding)
		for h := range u.heads {
			t.be.Gemm(false, true, u.factor(), u.head(q, h), u.head(k, h), 1, u.of(p, h))
		}
		t.be.Softmax(p)
		for h := range u.heads {
			t.be.Gemm(false, false, 1, u.of(p, h), u.head(v, h), 0, u.head(y, h))
		}
	})
}

// start sets what the products of a record's queries and keys are added to.
func (u *attentionUnit) start(t *pass, scores device.Matrix) {
	t.be.Fill(scores, 0)
	rows := scores.Reshape(u.heads, u.queries*u.keys)
	for p := range min(u.queries, u.keys-1) {
		if u.causal {
			t.be.Fill(rows.Slice(0, u.heads, p*u.keys+p+1, (p+1)*u.keys), later)
		}
	}
}

// record returns the scores of record i.
func (u *attentionUnit) record(scores device.Matrix, i int) device.Matrix {
	each := u.heads * u.queries
	return scores.RowRange(i*each, (i+1)*each)
}

// present returns the operand that says which keys are not padding, or the zero Matrix.
func (u *attentionUnit) present(t *pass, n *node) device.Matrix {
	if len(n.from) == 3 {
		return device.Matrix{}
	}
	return toHost(t.be, t.operand(n, 3), nil)
}

// pad sets the scores of a record's keys that are padding, for queries that could see them.
func (u *attentionUnit) pad(t *pass, present, scores device.Matrix, i int, to float32) {
	for k := range present.Cols {
		first := 0
		if u.causal {
			first = min(k, u.queries)
		}
		for h := 0; h < scores.Rows && present.Row(i)[k] <= 0; h += u.queries {
			t.be.Fill(scores.Slice(h+first, h+u.queries, k, k+1), to)
		}
	}
}

// backward has memory for the derivative of a few records' scores, which stays in the cache.
func (u *attentionUnit) backward(t *pass, n *node) {
	q, k, v, dy := t.operand(n, 0), t.operand(n, 1), t.operand(n, 2), t.delta(n)
	all, spare := u.scores(t, n, 1), u.scores(t, n, 2)
	present := u.present(t, n)
	dq, addQ := t.give(n, 0)
	dk, addK := t.give(n, 1)
	dv, addV := t.give(n, 2)
	t.share(t.rows, func(i int) {
		q, k, v := positions(q, i, u.queries), positions(k, i, u.keys), positions(v, i, u.keys)
		dy, p, ds := positions(dy, i, u.queries), u.record(all, i), u.record(spare, i/rowsOfPiece)
		for h := range u.heads {
			t.be.Gemm(false, true, 1, u.head(dy, h), u.head(v, h), 0, u.of(ds, h))
		}
		softmaxGradient(t.be, p, ds)
		u.pad(t, present, ds, i, 0)
		for _, g := range []struct {
			to, scores, other device.Matrix
			trans, add        bool
			factor            float32
			count             int
		}{{dq, ds, k, false, addQ, u.factor(), u.queries}, {dk, ds, q, true, addK, u.factor(), u.keys},
			{dv, p, dy, true, addV, 1, u.keys}} {
			for h := 0; h < u.heads && g.to.Rows > 0; h++ {
				t.be.Gemm(g.trans, false, g.factor, u.of(g.scores, h), u.head(g.other, h), beta(g.add),
					u.head(positions(g.to, i, g.count), h))
			}
		}
	})
}
