package records

import "github.com/seed7ba64551/privgen/param"

// CheckUnit refuses records for a ledger that promises more than they can keep: where a person has
// several records, what hides one record does not hide the person. The path is that of the records,
// unit theirs and promised the ledger's.
//
// Errors: *param.Error.
func CheckUnit(path, unit, promised string) error {
	if promised != UnitRecord && promised != unit {
		return param.New(path, "one "+unit+" a row", "one "+promised+" a row, as the ledger promises")
	}
	return nil
}
