package records

import "github.com/seed7ba64551/privgen/internal/param"

// CheckUnit returns an error if the unit of records differs from the unit that a ledger promises to
// protect. A guarantee for one record does not protect a person with several records. Conversely,
// if a record holds all rows of a person, one more row changes that record. A changed record costs
// more than an added record, so a ledger that counts records would promise too much for a row. No
// ledger promises to protect [UnitPart]. path names the records, unit is their unit, and promised
// is the unit that the ledger promises to protect.
//
// Errors: *param.Error.
func CheckUnit(path, unit, promised string) error {
	if promised != unit || unit == UnitPart {
		return param.New(path, "one "+unit+" a row", "one "+promised+" a row, as the ledger promises")
	}
	return nil
}

// CheckUnitOf is [CheckUnit] for data.
//
// Errors: *param.Error.
func CheckUnitOf(path string, d Data, promised string) error {
	unit := UnitOf(d)
	_, persons := AsPersons(d)
	_, linked := AsLinked(d)
	if (persons || linked) && (promised != unit || promised == UnitRecord) {
		return param.New(path, "persons on a ledger that promises one "+promised,
			"a ledger made with ledger.WithUnit(records.UnitUser)")
	}
	around := false
	returns(func() { around = !persons && d.Schema().RowsPerPerson() > 0 })
	if around {
		return param.New(path, "data of another type around persons", "the persons of GroupBy themselves")
	}
	return CheckUnit(path, unit, promised)
}
