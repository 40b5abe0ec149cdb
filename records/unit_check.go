package records

import "github.com/seed7ba64551/privgen/param"

// CheckUnit returns an error if a ledger promises anything but what its records are. Hiding one
// record does not hide a person with several. And where a record is all of a person, a row that
// comes to a person who has others changes that record, which costs more than a record that
// comes: a ledger that counts records would promise too much for a row. Nothing promises to protect
// [UnitPart]. path names the records,
// unit is theirs and promised the ledger's.
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
	if _, persons := AsPersons(d); persons && (promised != unit || promised == UnitRecord) {
		return param.New(path, "persons on a ledger that promises one "+promised,
			"a ledger made with accountant.WithUnit(records.UnitUser)")
	}
	return CheckUnit(path, unit, promised)
}
