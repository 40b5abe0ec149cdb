package records_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestNothingPromisesParts: no ledger accepts rows of users who may have other rows, whatever unit
// it promises, unless the caller states another unit.
func TestNothingPromisesParts(t *testing.T) {
	sets := made(t, 3, 99)
	users := records.WithUnit(sets, records.UnitUser)
	row := must(records.FromFlat(records.Binary(2), []float32{0, 1}))(t)
	for name, parts := range map[string][]records.Data{
		"sets of users":        {users, users},
		"sets of both":         {sets, users},
		"vectors of users":     {records.WithUnit(row, "household"), records.WithUnit(row, "household")},
		"rows that are joined": {records.WithUnit(sets, records.UnitPart)},
	} {
		d, err := records.Concat(parts[0].Schema(), parts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, promised := range []string{records.UnitRecord, records.UnitUser, "household",
			records.UnitPart} {
			if records.CheckUnitOf("data", d, promised) == nil {
				t.Errorf("%s: a ledger that promises one %s takes one %s", name, promised,
					records.UnitOf(d))
			}
		}
		known := records.WithUnit(d, records.UnitUser)
		if err := records.CheckUnitOf("data", known, records.UnitUser); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, parts := range map[string][]records.Data{
		records.UnitUser:   {users},
		records.UnitRecord: {sets, sets},
		"household":        {records.WithUnit(row, "household")},
	} {
		d, err := records.Concat(parts[0].Schema(), parts...)
		if err != nil || records.UnitOf(d) != want {
			t.Errorf("joined: one %s each, want %s (%v)", records.UnitOf(d), want, err)
		}
	}
}
