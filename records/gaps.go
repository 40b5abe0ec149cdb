package records

import (
	"cmp"
	"math"
	"slices"
)

const (
	gapPrefix = "gap of "
	mostGap   = 1 << 53 // steps between the bounds, which float64 can hold
)

// gapColumn returns the column of gaps: whole steps of the other column after the row before,
// missing in a first row. Its bounds are public: they are the span of the other column.
func (t Tables) gapColumn() (c Column, ok bool) {
	at, span := t.Schema.ColumnIndex(t.Gaps), int64(0)
	if at < 0 || t.Schema.table.columns[at].missing {
		return c, false
	}
	switch of := t.Schema.table.columns[at]; {
	case of.kind == DatetimeColumn:
		span = of.ticks()
	case of.kind == IntegerColumn && !of.inTicks() && !of.stepped:
		span = of.most - of.least
	}
	c = Integer(gapPrefix+t.Gaps, 0, 1).withWhole(0, span).Logarithmic().WithMissing()
	return c, span >= 1 && span <= mostGap
}

// steps returns a function that returns a row's cell of the column with gaps, in steps above its
// lower bound.
func (n tableNode) steps(f *Frame) func(row int32) float64 {
	at := n.Schema.ColumnIndex(n.Gaps)
	code, own := &n.Schema.table.cells[at], &f.cells[at]
	return func(row int32) float64 {
		if code.tick != nil {
			return float64(code.tickOf(own.ticks[row]))
		}
		return code.number(own.numbers[row]) - code.lo
	}
}

// inOrder puts the rows of each parent into the order of the column with gaps.
func (n tableNode) inOrder(f *Frame, rows, up []int32) {
	steps := n.steps(f)
	for lo, hi := 0, 0; lo < len(up); lo = hi {
		for hi < len(up) && up[hi] == up[lo] {
			hi++
		}
		slices.SortStableFunc(rows[lo:hi], func(a, b int32) int {
			return cmp.Compare(steps(a), steps(b))
		})
	}
}

// gaps returns the gaps of rows in order.
func (n tableNode) gaps(f *Frame, up []int32) cells {
	steps := n.steps(f)
	out := make([]float64, len(up))
	for k := range out {
		if out[k] = math.NaN(); k > 0 && up[k] == up[k-1] {
			out[k] = steps(int32(k)) - steps(int32(k-1))
		}
	}
	return cells{numbers: out}
}

// spaced moves drawn rows to their drawn gap after the row before. A row whose gap passes the upper
// bound stays where it was drawn, but not before the row before.
func (n tableNode) spaced(own, drawn *Frame, before []int32) *Frame {
	at, gap := n.Schema.ColumnIndex(n.Gaps), len(n.Schema.table.columns)
	code := &n.Schema.table.cells[at]
	moved := cells{numbers: slices.Clone(own.cells[at].numbers),
		ticks: slices.Clone(own.cells[at].ticks)}
	gaps, place, last := make([]float64, own.n), n.steps(own), n.steps(drawn)
	for row, p := range before {
		if gaps[row] = math.NaN(); p < 0 {
			continue
		}
		was := last(p)
		now := max(place(int32(row)), was)
		if next := was + own.Number(row, gap); next <= n.full.table.cells[gap].hi {
			now = next
		}
		if gaps[row] = now - was; code.tick != nil {
			moved.ticks[row] = int64(now)
		} else {
			moved.numbers[row] = code.lo + now
		}
	}
	out := &Frame{frameRef: &frameRef{&frameRows{schema: own.schema, n: own.n,
		cells: slices.Clone(own.cells), home: own.home}}}
	out.cells[at], out.cells[gap] = moved, cells{numbers: gaps}
	return out
}
