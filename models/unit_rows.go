package models

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// An Op is an operation without parameters that computes each record's row from rows of the same
// record. It is called for one record at a time, in any order and on several cores, and must keep
// nothing from one call to the next. Run modelstest.Op on it.
type Op interface {
	// Out returns the number of results, given the numbers of the operands.
	Out(widths ...int) int
	// Forward sets y, which is 0 at first. It must not change x, nor keep it. The key is uniformly
	// random, for randomness that belongs to the record.
	Forward(y []float32, key uint64, x ...[]float32)
	// Backward adds to dx[k] the derivative of the loss with respect to x[k], where dy is its
	// derivative with respect to y.
	Backward(dx [][]float32, dy, y []float32, key uint64, x ...[]float32)
}

// rowUnit computes an Op on the host.
type rowUnit struct {
	op   Op
	wide int
}

// rowwise adds op, with the given operands.
func (g *sketch) rowwise(op Op, from ...*node) *node {
	var widths []int
	for _, f := range from {
		widths = append(widths, f.width)
	}
	return g.add(&rowUnit{op, op.Out(widths...)}, from...)
}

func (u *rowUnit) out() int { return u.wide }

// setRowsPiece is the number of records that a core computes at a time.
const rowsOfPiece = 16

// share calls do for the given number of records, on all cores.
func (t *pass) share(records int, do func(i int)) {
	pieces := (records + rowsOfPiece - 1) / rowsOfPiece
	piece := func(p int) {
		for i := p * rowsOfPiece; i < min((p+1)*rowsOfPiece, records); i++ {
			do(i)
		}
	}
	if s, ok := t.be.(device.Sharing); ok {
		s.Share(pieces, piece)
		return
	}
	for p := range pieces {
		piece(p)
	}
}

// keyOf returns the key of a unit for record i.
func (t *pass) keyOf(n *node, i int) uint64 { return mix(mix(t.key(i)) + golden*uint64(n.id)) }

// hosts returns the operands in host memory.
func (t *pass) hosts(n *node) (list []device.Matrix) {
	for k := range n.from {
		list = append(list, toHost(t.be, t.operand(n, k), nil))
	}
	return list
}

// rowsAt returns row i of every matrix.
func rowsAt(of []device.Matrix, i int) [][]float32 {
	x := make([][]float32, len(of))
	for k, m := range of {
		x[k] = m.Row(i)
	}
	return x
}

func (u *rowUnit) forward(t *pass, n *node) {
	if _, random := u.op.(dropout); random && !t.trains {
		t.be.Apply(device.Identity, t.value(n), t.operand(n, 0))
		return
	}
	y, from := toHost(t.be, t.value(n), nil), t.hosts(n)
	t.share(t.rows, func(i int) {
		clear(y.Row(i)) // of another record
		u.op.Forward(y.Row(i), t.keyOf(n, i), rowsAt(from, i)...)
	})
	upload(t.be, t.value(n), y)
}

// upload copies m to dst, if dst is in the memory of a device.
func upload(be device.Backend, dst, m device.Matrix) {
	if dst.Mem != nil && dst.Rows > 0 {
		be.Upload(dst, m.Data)
	}
}

func (u *rowUnit) backward(t *pass, n *node) {
	y, dy, from := toHost(t.be, t.value(n), nil), toHost(t.be, t.delta(n), nil), t.hosts(n)
	var to, host, fresh []device.Matrix
	for k, f := range n.from {
		if j := slices.Index(n.from, f); j < k { // derivatives of the same value are added up
			to, host = append(to, to[j]), append(host, host[j])
			continue
		}
		dst, add := t.give(n, k)
		if dst.Rows == 0 { // nothing depends on this derivative
			dst = t.keep(n, 1+k, from[k].Cols)
		}
		to, host = append(to, dst), append(host, toHost(t.be, dst, nil))
		if !add {
			fresh = append(fresh, host[k])
		}
	}
	t.share(t.rows, func(i int) {
		for _, m := range fresh {
			clear(m.Row(i))
		}
		u.op.Backward(rowsAt(host, i), dy.Row(i), y.Row(i), t.keyOf(n, i), rowsAt(from, i)...)
	})
	for k := range to {
		upload(t.be, to[k], host[k])
	}
}
