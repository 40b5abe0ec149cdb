package system

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// CheckLedger refuses a ledger that is missing or counts under another relation than the plan's. The path is that of the
// parameter it came in, such as dpgm.Fit.ledger.
func CheckLedger(path string, ledger *accountant.Ledger, want accountant.Relation) error {
	if ledger == nil {
		return &param.Error{Path: path, Value: nil, Want: "a ledger"}
	}
	if got := ledger.Relation(); got != want {
		return &param.Error{Path: path, Value: got, Want: "the plan's relation, " + want.String()}
	}
	return nil
}

// CheckUnit refuses a ledger that promises more than records of a unit can keep: where persons have several records,
// what hides one record does not hide a person. The path is that of the records.
func CheckUnit(path string, ledger *accountant.Ledger, unit string) error {
	if want := ledger.Unit(); want != records.UnitRecord && want != unit {
		return &param.Error{Path: path, Value: "one " + unit + " a row",
			Want: "one " + want + " a row, as the ledger promises"}
	}
	return nil
}

// Affordable refuses a plan, with this total, that a ledger cannot pay in full beside what it holds, so that a run never
// stops half way for want of budget. The ledger itself decides again at every reservation.
func Affordable(name string, ledger *accountant.Ledger, total accountant.Event) error {
	if err := ledger.Affords(total); err != nil {
		return fmt.Errorf("%s: the whole run: %w", name, err)
	}
	return nil
}
