package records

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/seed7ba64551/privgen/internal/param"
)

var integerKind = kindOf{name: "integer", ordered: true, whole: true, kindRules: integerRules{}}

// Integer returns a column of whole numbers from lo to hi. Other numbers are rounded to the nearest
// whole number. In all other respects the column is like [Numeric]. float64 represents every whole
// number up to 2^53. If a bound is beyond 2^53, values are held as int64 and are read and written
// exactly; see [Frame.Whole].
func Integer(name string, lo, hi int) Column {
	return Column{kind: IntegerColumn, name: name}.withWhole(int64(lo), int64(hi))
}

// withWhole returns the column with bounds that are whole numbers.
func (c Column) withWhole(lo, hi int64) Column {
	c.least, c.most, c.lo, c.hi = lo, hi, float64(lo), float64(hi)
	return c
}

// WholeBounds returns the exact bounds of a column of whole numbers, and 0 and 0 for other columns.
func (c Column) WholeBounds() (lo, hi int64) {
	if c.kind != IntegerColumn {
		return 0, 0
	}
	return c.least, c.most
}

// Whole returns the exact number in one cell of an [Integer] column. ok is false for a missing
// value, if the column allows one, and for columns of other kinds.
func (f *Frame) Whole(row, column int) (v int64, ok bool) {
	code := &f.schema.table.cells[column]
	if code.kind != IntegerColumn {
		return 0, false
	}
	if code.tick == nil {
		x := code.number(f.cells[column].numbers[row])
		return int64(x), x == x
	}
	k := code.tickOf(f.cells[column].ticks[row])
	if k == missingTick {
		return 0, false
	}
	return code.tick.whole(k), true
}

// integerRules are the rules of whole numbers.
type integerRules struct{ numberRules }

func (r integerRules) show(c Column) string {
	if c.inTicks() {
		return fmt.Sprintf(" [%d, %d]", c.least, c.most)
	}
	return r.numberRules.show(c)
}

func (integerRules) check(f *columnFaults) {
	f.finite()
	if c := f.column; float64(c.least) != c.lo || float64(c.most) != c.hi {
		f.bad(".Bounds", fmt.Sprintf("[%g, %g]", c.lo, c.hi), "whole numbers below 2^63")
	}
	if f.column.inTicks() {
		f.span()
	}
	f.noLevels()
}

func (r integerRules) rebound(c Column, lo, hi float64) Column {
	c.least, c.most = saturated(lo), saturated(hi)
	return r.numberRules.rebound(c, lo, hi)
}

func (integerRules) put(c Column, j *columnJSON) { j.Lo, j.Hi = written(c.least), written(c.most) }

func (r integerRules) get(j columnJSON, c Column) (Column, error) {
	var lo, hi int64
	if param.Decode(j.Lo, &lo) == nil && param.Decode(j.Hi, &hi) == nil {
		return c.withWhole(lo, hi), nil
	}
	return r.numberRules.get(j, c)
}

// held returns ticks for numbers that float64 cannot represent exactly.
func (integerRules) held(c Column) tickKind {
	if min(c.least, c.most) < -maxWhole || max(c.least, c.most) > maxWhole {
		return wholeTicks{}
	}
	return nil
}

// wholeTicks holds whole numbers as their distance from the lower bound.
type wholeTicks struct{}

func (wholeTicks) count(c Column) int64        { return c.most - c.least }
func (wholeTicks) prepare(*tickCode, Column)   {}
func (wholeTicks) declared(*columnFaults) bool { return true }
func (wholeTicks) invalid() string             { return "not a number" }

func (wholeTicks) ofWhole(t *tickCode, v int64) int64 {
	if v < t.least {
		return -1
	}
	if k := uint64(v) - uint64(t.least); k <= uint64(t.last) {
		return int64(k)
	}
	return t.last + 1
}

func (w wholeTicks) ofFloat(t *tickCode, v float64) int64 {
	return w.ofWhole(t, saturated(math.Round(v)))
}

func (w wholeTicks) parse(t *tickCode, text string) (int64, bool) {
	v, ok := wholeNumber(text)
	if !ok {
		return 0, false
	}
	return w.ofWhole(t, v), true
}

func (wholeTicks) float(t *tickCode, k int64) float64 { return float64(t.whole(k)) }

func (wholeTicks) append(t *tickCode, dst []byte, k int64) []byte {
	return strconv.AppendInt(dst, t.whole(k), 10)
}

func (wholeTicks) compareText(t *tickCode, k int64, text string) int {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return 0
	}
	return cmp.Compare(t.float(k), parseNumber(text))
}

func (wholeTicks) compare(t, o *tickCode, x, y int64) int {
	return cmp.Compare(t.whole(x), o.whole(y))
}
