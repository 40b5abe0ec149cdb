package compose

import (
	"fmt"

	"github.com/seed7ba64551/privgen/records"
)

// take returns the given rows of a result of records.Concat.
func take(data records.Data, rows []int32) (records.Data, error) {
	switch t := data.(type) {
	case *records.Frame:
		return t.Take(rows), nil
	case *records.SetTable:
		return t.Take(rows), nil
	case *records.Table:
		return t.Take(rows), nil
	}
	return nil, fmt.Errorf("compose: synthetic records are %T, want a *records.Table, "+
		"*records.Frame or *records.SetTable", data)
}
