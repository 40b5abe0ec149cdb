package models

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// linearUnit adds up columns of its operands, times factors, at every position. Sums, multiples,
// concatenations, ranges of columns and means over positions are such units.
type linearUnit struct {
	places, wide int
	terms        []linearTerm
}

// A linearTerm adds factor times columns lo to hi−1 of operand k to the columns that begin at `at`.
type linearTerm struct {
	k, at, lo, hi int
	factor        float32
}

func (u *linearUnit) out() int { return u.places * u.wide }

// columns returns columns lo to hi−1 of every position.
func (u *linearUnit) columns(m device.Matrix, lo, hi int) device.Matrix {
	return m.Reshape(m.Rows*u.places, m.Cols/u.places).Slice(0, m.Rows*u.places, lo, hi)
}

// forward sets columns in the first term that has them, since terms have the same columns or none
// in common.
func (u *linearUnit) forward(t *pass, n *node) {
	for i, m := range u.terms {
		src := u.columns(t.operand(n, m.k), m.lo, m.hi)
		dst := u.columns(t.value(n), m.at, m.at+m.hi-m.lo)
		t.addTerm(m.factor, src, dst, i > 0 && m.at <= u.terms[i-1].at)
	}
}

// addTerm adds factor·src to dst, or sets dst if add is false.
func (t *pass) addTerm(factor float32, src, dst device.Matrix, add bool) {
	if !add && factor == 1 {
		t.be.Apply(device.Identity, dst, src)
		return
	}
	if !add {
		t.be.Fill(dst, 0)
	}
	t.be.Axpy(factor, src, dst)
}

func (u *linearUnit) backward(t *pass, n *node) {
	for _, m := range u.terms {
		dx, add := t.give(n, m.k)
		if dx.Rows == 0 {
			continue
		}
		dst := u.columns(dx, m.lo, m.hi)
		if !add && dst.Cols*u.places < dx.Cols {
			t.be.Fill(dx, 0)
			add = true
		}
		t.addTerm(m.factor, u.columns(t.delta(n), m.at, m.at+m.hi-m.lo), dst, add)
	}
}

// productUnit is x∘y.
type productUnit struct{ width int }

func (u *productUnit) out() int { return u.width }

func (u *productUnit) forward(t *pass, n *node) {
	t.be.Mul(t.value(n), t.operand(n, 0), t.operand(n, 1))
}

func (u *productUnit) backward(t *pass, n *node) {
	for k := range n.from {
		t.pull(n, k, func(dx device.Matrix) { t.be.Mul(dx, t.delta(n), t.operand(n, 1-k)) })
	}
}

// gainUnit multiplies every channel by a gain and adds a shift, the same at all positions.
type gainUnit struct{ places, channels int }

func (u *gainUnit) out() int { return u.places * u.channels }

func (u *gainUnit) blocks(float64) []block {
	return []block{{name: "gain", rows: 1, cols: u.channels, fill: 1},
		{name: "shift", rows: 1, cols: u.channels}}
}

func (u *gainUnit) at(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.places, u.channels)
}

// scale sets y to x times the gain plus the shift.
func (u *gainUnit) scale(t *pass, n *node, x, y, shift device.Matrix) {
	stats := t.memory(n, 1, 2, u.channels)
	t.be.Fill(stats.RowRange(1, 2), 1)
	t.be.Normalize(u.at(y), u.at(x), stats, t.blocks[n.first], shift)
}

func (u *gainUnit) forward(t *pass, n *node) {
	u.scale(t, n, t.operand(n, 0), t.value(n), t.blocks[n.first+1])
}

func (u *gainUnit) backward(t *pass, n *node) {
	t.be.Mul(t.keep(n, 2, n.width), t.delta(n), t.operand(n, 0))
	t.pull(n, 0, func(dx device.Matrix) {
		u.scale(t, n, t.delta(n), dx, t.memory(n, 3, 1, u.channels))
	})
}

func (u *gainUnit) uses(t *pass, n *node, list []use) []use {
	return append(list,
		use{weight: -1, bias: n.first, rows: u.places, d: u.at(t.keep(n, 2, n.width))},
		use{weight: -1, bias: n.first + 1, rows: u.places, d: u.at(t.delta(n))})
}

// embedUnit replaces every number of its operand, a level from 0 to levels−1, with a row of
// parameters. Numbers outside become the nearest level, and NaN level 0.
type embedUnit struct{ positions, levels, wide int }

func (u *embedUnit) out() int { return u.positions * u.wide }

func (u *embedUnit) blocks(float64) []block {
	return []block{{name: "weight", rows: u.levels, cols: u.wide, std: 1}}
}

func (u *embedUnit) at(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.positions, u.wide)
}

func (u *embedUnit) forward(t *pass, n *node) {
	s, x := &t.sets, toHost(t.be, t.operand(n, 0), nil)
	*s = append(*s, make([]device.Sparse, max(0, n.id+1-len(*s)))...)
	set := &(*s)[n.id]
	set.Cols, set.Offsets, set.Items = u.levels, append(set.Offsets[:0], 0), set.Items[:0]
	for i := range t.rows {
		for _, v := range x.Row(i) {
			level := 0
			if v > 0 {
				level = int(min(v, float32(u.levels-1)))
			}
			set.Items = append(set.Items, uint32(level))
			set.Offsets = append(set.Offsets, len(set.Items))
		}
	}
	t.be.SparseGemm(set, t.blocks[n.first], 0, u.at(t.value(n)))
}

// backward adds up the derivatives of equal levels of a record at the first of their positions, and
// clears the others. So the rows of the record's gradient are the rows of the derivative.
func (u *embedUnit) backward(t *pass, n *node) {
	items, d := t.sets[n.id].Items, toHost(t.be, u.at(t.delta(n)), nil)
	for p, item := range items {
		first := p - p%u.positions
		if q := first + slices.Index(items[first:], item); q < p {
			host.AddMultiple(1, d.Row(p), d.Row(q))
			clear(d.Row(p))
		}
	}
	upload(t.be, u.at(t.delta(n)), d)
}

func (u *embedUnit) uses(t *pass, n *node, list []use) []use {
	v := use{weight: n.first, bias: -1, rows: u.positions, apart: true, d: u.at(t.delta(n))}
	if t.rows > 0 {
		v.sparse = &t.sets[n.id]
	}
	return append(list, v)
}
