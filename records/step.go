package records

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// WithStep declares that the values of a [Numeric] or [Target] column lie on a grid: the lower
// bound plus whole multiples of step. The upper bound must lie on the grid. A column of rates with
// two decimals has the step 0.01. Other numbers are rounded to the nearest value of the grid.
// Values are exact in decimal: the text of a value has no more decimals than the step and the lower
// bound.
//
// Models treat a column with a step like [Integer], whose step is 1. If the grid has few values,
// models count each value separately instead of ranges of values.
//
// Guarantee: the step is public knowledge about the format of the data, like the bounds. It must
// not be computed from private records.
func (c Column) WithStep(step float64) Column {
	c.grid, c.stepped = step, true
	return c
}

// Step returns the distance between two neighbouring values of a column of numbers: the step
// declared by [Column.WithStep], and 1 for [Integer]. It returns 0 if there is none, and for
// datetimes and durations; see [Column.Precision].
func (c Column) Step() float64 {
	if c.kind.of().whole {
		return 1
	}
	return c.grid
}

// numberGrid holds the values of a column with a step. They are computed in units of a power of
// ten. With at most mostUnits units every result is the float64 nearest to its decimal.
type numberGrid struct {
	first, step, last float64 // the lower bound and the step in units, and the number of steps
	power             float64 // units in 1
}

const (
	mostUnits    = 1 << 50
	mostDecimals = 22 // 10^22 is the largest power of ten that float64 represents exactly
)

// newNumberGrid returns the grid of a column, or what is wrong with it.
func newNumberGrid(c Column) (g numberGrid, given any, want string) {
	if !(c.grid > 0) || math.IsInf(c.grid, 0) {
		return g, c.grid, "a positive, finite step"
	}
	places := max(decimalPlaces(c.grid), decimalPlaces(c.lo))
	if places > mostDecimals {
		return g, c.grid, fmt.Sprintf("a step and a lower bound with at most %d decimals", mostDecimals)
	}
	g.power = math.Pow10(places)
	g.first, g.step = math.Round(c.lo*g.power), math.Round(c.grid*g.power)
	end := math.Round(c.hi * g.power)
	if !(max(math.Abs(g.first), math.Abs(end), g.step) <= mostUnits) {
		return g, c.grid, fmt.Sprintf("bounds of at most 2^50 units of 1e-%d; the bounds are [%g, %g]",
			places, c.lo, c.hi)
	}
	if g.last = (end - g.first) / g.step; end/g.power != c.hi || g.last != math.Trunc(g.last) {
		return g, c.grid, fmt.Sprintf("a step with which the upper bound %g lies a whole number of steps "+
			"above the lower bound %g", c.hi, c.lo)
	}
	return g, nil, ""
}

// decimalPlaces returns the number of decimals of the shortest decimal that stands for a number.
func decimalPlaces(v float64) int {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	_, fraction, _ := strings.Cut(digits, ".")
	e, _ := strconv.Atoi(exponent)
	return max(len(fraction)-e, 0)
}

// at returns the value k steps above the lower bound.
func (g *numberGrid) at(k float64) float64 {
	return (g.first+min(max(k, 0), g.last)*g.step)/g.power + 0 // turns -0 into 0
}

// place returns the number of steps from the lower bound to v. It need not be whole.
func (g *numberGrid) place(v float64) float64 { return (v*g.power - g.first) / g.step }

// nearest returns the nearest value of the grid.
func (g *numberGrid) nearest(v float64) float64 { return g.at(math.Round(g.place(v))) }

// stray is the largest distance, in steps, of a value from its place on the grid that counts as
// rounding.
const stray = 1e-6

// near reports whether v is a value of the grid, except for rounding: it is off by at most stray,
// or by the last bit of a float64.
func (g *numberGrid) near(v float64) bool {
	const lastBit = 1.0 / (1 << 52)
	x := g.nearest(v)
	return math.Abs(v-x) <= max(stray*g.step/g.power, lastBit*math.Abs(x))
}

// holds reports whether v is a value of the grid, except for rounding. It also accepts values that
// were rounded to float32.
func (g *numberGrid) holds(v float64) bool {
	return g.near(v) || float64(float32(g.nearest(v))) == v
}

// above returns the smallest value of the grid that is not below v, and reports whether there is
// one. below returns the largest that is not above v.
func (g *numberGrid) above(v float64) (float64, bool) {
	k := math.Round(g.place(v))
	for ; k <= g.last; k++ {
		if x := g.at(k); x >= v {
			return x, true
		}
	}
	return v, false
}

func (g *numberGrid) below(v float64) (float64, bool) {
	k := math.Round(g.place(v))
	for ; k >= 0; k-- {
		if x := g.at(k); x <= v {
			return x, true
		}
	}
	return v, false
}

// onGrid returns bounds moved outward to values of the column's present grid, as far as its present
// bounds allow.
func (c Column) onGrid(lo, hi float64) (float64, float64) {
	if !c.stepped || !(lo <= hi) || !(c.lo < c.hi) {
		return lo, hi
	}
	g, _, want := newNumberGrid(c)
	if want != "" {
		return lo, hi
	}
	lo, hi = min(max(lo, c.lo), c.hi), min(max(hi, c.lo), c.hi)
	first, last := math.Round(g.place(lo)), math.Round(g.place(hi))
	if !g.near(lo) && g.at(first) > lo {
		first--
	}
	if !g.near(hi) && g.at(last) < hi {
		last++
	}
	if last <= first {
		first = min(first, g.last-1)
		last = first + 1
	}
	return g.at(first), g.at(last)
}

// step checks the declaration of a step.
func (f *columnFaults) step() {
	c := f.column
	switch {
	case !c.stepped:
	case !c.kind.of().stepped:
		f.bad(".WithStep", c.grid, fmt.Sprintf("no step for a column of type %v", c.kind))
	case c.lo < c.hi:
		if _, given, want := newNumberGrid(c); want != "" {
			f.bad(".WithStep", given, want)
		}
	}
}
