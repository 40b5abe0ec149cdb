package records

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

var (
	numericKind = kindOf{name: "numeric", ordered: true, stepped: true, kindRules: numberRules{}}
	targetKind  = kindOf{name: "target", role: targetRole, ordered: true, stepped: true,
		kindRules: numberRules{}}
)

// Numeric returns a column of real numbers. They are clamped to the public bounds [lo,
// hi]. Missing values and values that are not numbers become the lower bound, unless
// [Column.WithMissing] adds a missing value.
func Numeric(name string, lo, hi float64) Column {
	return Column{kind: NumericColumn, name: name, lo: lo, hi: hi}
}

// Target returns a numeric column to be predicted from the others. It is encoded like [Numeric].
func Target(name string, lo, hi float64) Column {
	return Column{kind: TargetColumn, name: name, lo: lo, hi: hi}
}

// numberRules are the rules of numbers between bounds.
type numberRules struct{}

func (numberRules) show(c Column) string { return fmt.Sprintf(" [%g, %g]", c.lo, c.hi) }

func (numberRules) check(f *columnFaults) {
	f.finite()
	f.noLevels()
}

func (numberRules) rebound(c Column, lo, hi float64) Column {
	c.lo, c.hi = c.onGrid(lo, hi)
	return c
}

func (numberRules) put(c Column, j *columnJSON) { j.Lo, j.Hi = written(c.lo), written(c.hi) }

func (numberRules) get(j columnJSON, c Column) (Column, error) {
	var lo, hi float64
	if err := errors.Join(param.Decode(j.Lo, &lo), param.Decode(j.Hi, &hi)); err != nil {
		return c, j.wrong("bounds %.40s, %.40s: want numbers", j.Lo, j.Hi)
	}
	if c = c.WithBounds(lo, hi); j.Step != nil {
		c = c.WithStep(*j.Step)
	}
	return c, nil
}

func (numberRules) held(Column) tickKind { return nil }
