package records

import "github.com/seed7ba64551/privgen/param"

// CheckUnit returns an error if a ledger promises more than its records support: hiding one record
// does not hide a person with several records. path names the records, unit is theirs and promised
// the ledger's.
//
// Errors: *param.Error.
func CheckUnit(path, unit, promised string) error {
	if promised != UnitRecord && promised != unit {
		return param.New(path, "one "+unit+" a row", "one "+promised+" a row, as the ledger promises")
	}
	return nil
}

// CheckUnitOf is [CheckUnit] for data. Persons are refused by a ledger that does not promise to
// protect what they state to be: one that counts records would promise too much for a row, since a
// row that comes to a person who has others changes all that the person contributes.
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
