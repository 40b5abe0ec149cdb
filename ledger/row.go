package ledger

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// OneRow returns the ε and δ that the guarantee implies for changing, adding or removing one row
// while the other rows of its unit stay. It is for units that may have several rows (RowsPerUnit).
// A unit's only row is the unit itself.
//
// A change of one row replaces the rows of one unit by other rows. The replace-one relation
// compares exactly this. Under add-or-remove-one the change takes two steps: removing the unit and
// adding it again. Two steps of (ε, δ) are one step of (2ε, (1+e^ε)δ).
//
// Source: Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, on group
// privacy, for groups of two.
func (g Guarantee) OneRow() (epsilon, delta float64) {
	if g.Relation == accountant.ReplaceOne {
		return g.Epsilon, g.Delta
	}
	if g.Delta == 0 {
		return 2 * g.Epsilon, 0
	}
	return 2 * g.Epsilon, min(math.Nextafter((1+math.Exp(g.Epsilon))*g.Delta*(1+0x1p-50), 2), 1)
}

// Units describes the protected unit. If a unit may have several rows, the text also states the ε
// and δ of one row.
func (g Guarantee) Units() string {
	unit := param.OneLine(g.Unit)
	if g.RowsPerUnit == 0 {
		return "one " + unit
	}
	eps, delta := g.OneRow()
	return fmt.Sprintf("one %s with all rows, of which at most %d are read; for one row of a %s with "+
		"further rows: ε = %s, δ = %s", unit, g.RowsPerUnit, unit, accountant.FormatUpper(eps, 6),
		accountant.FormatUpper(delta, 3))
}

// DPAccountingScript returns a Python program that prices everything reserved on the ledger with
// dp_accounting.
//
// Errors: the errors of [DPAccountingScript]; ErrDamaged and the errors of the journal, because the
// reservations of other processes are then unknown.
func (l *Ledger) DPAccountingScript() (string, error) {
	l = l.original()
	if err := l.shared.refresh(); err != nil {
		return "", err
	}
	l.shared.state.Lock()
	e, fault := l.event(nil, nil, 0), l.shared.root.fault
	l.shared.state.Unlock()
	if fault != nil {
		return "", fault
	}
	return accountant.DPAccountingScript(e, l.budget.Delta, l.Relation())
}
