package beam_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/beam"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
)

// TestRowsOfAnotherUnitCostNothing: the unit of a job's rows is public, so a ledger or a plan of
// another unit is refused before the reservation. The pipeline would fail after it.
func TestRowsOfAnotherUnitCostNothing(t *testing.T) {
	for name, c := range map[string]struct {
		unit, promised string
		rows           int // of a person
	}{
		"rows on a ledger for users":         {records.UnitRecord, records.UnitUser, 0},
		"users as rows of persons of a plan": {records.UnitUser, records.UnitUser, 3},
	} {
		p, err := merf.Config{Schema: tableSchema.ByPerson(c.rows), Budget: budget}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		l := ledger.New(accountant.Budget{Epsilon: 1e4, Delta: budget.Delta}, ledger.WithUnit(c.promised))
		j := beam.Job{Rows: rows(false, c.unit), Parts: beam.Parts{Unit: c.unit, N: 3},
			Key: mechanism.NewKey(), Folder: t.TempDir()}
		var wrong *param.Error
		_, err = beam.Fit(t.Context(), j, p, l)
		if !errors.As(err, &wrong) || len(l.Entries()) > 0 {
			t.Errorf("%s: got error %v, want a *param.Error; the ledger has %v", name, err, l.Entries())
		}
	}
}

// TestNilPlansAreRefused: a nil plan of a type is not a nil plan of the interface.
func TestNilPlansAreRefused(t *testing.T) {
	l, j := ledger.New(budget), beam.Job{}
	_, fit := beam.Fit(t.Context(), j, nil, l)
	_, merf := beam.MERF(t.Context(), j, nil, l)
	_, mix := beam.Mix(t.Context(), j, nil, l)
	_, embed := beam.Embed(t.Context(), j, nil, l)
	for name, err := range map[string]error{"Fit": fit, "MERF": merf, "Mix": mix, "Embed": embed} {
		if wrong := new(param.Error); !errors.As(err, &wrong) {
			t.Errorf("%s of no plan: got %v, want a *param.Error", name, err)
		}
	}
}
