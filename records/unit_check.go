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
