package accountant

import (
	"fmt"
	"math"
)

// OneRow returns what the guarantee implies for a single row that is changed, added or removed, if
// a unit may have several rows (RowsPerUnit) and the others of that unit stay.
//
// Such a change replaces one unit's rows by others. Under replace-one this is exactly what the
// guarantee compares. Under add-or-remove-one it is two steps, removing the unit and adding it
// again, and two steps of (ε, δ) are one of (2ε, (1+e^ε)δ). A unit's only row is the unit itself.
//
// Source: Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, on group
// privacy; the step is written out here for two.
func (g Guarantee) OneRow() (epsilon, delta float64) {
	if g.Relation == ReplaceOne {
		return g.Epsilon, g.Delta
	}
	if g.Delta == 0 {
		return 2 * g.Epsilon, 0
	}
	return 2 * g.Epsilon, min(math.Nextafter((1+math.Exp(g.Epsilon))*g.Delta*(1+0x1p-50), 2), 1)
}

// Units describes the protected unit and, if it may have several rows, what the guarantee implies
// for one row.
func (g Guarantee) Units() string {
	if g.RowsPerUnit == 0 {
		return "one " + g.Unit
	}
	eps, delta := g.OneRow()
	return fmt.Sprintf("one %s with all rows, of which at most %d are read; for one row of a %s with "+
		"further rows: ε = %s, δ = %s", g.Unit, g.RowsPerUnit, g.Unit, roundUp(eps, 6),
		roundUp(delta, 3))
}
