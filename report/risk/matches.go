package risk

import (
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// Matches counts the records of one set that equal a record of the other in every column, including
// the class. The count proves nothing; see the package.
//
// Errors: *[param.Error] for records of different schemas.
// Guarantee: none; see the package.
func Matches(some, others records.Data) (int, error) {
	if err := compare.Alike("risk.Matches", others, some); err != nil {
		return 0, err
	}
	return compare.Matches(others, some)[0], nil
}
