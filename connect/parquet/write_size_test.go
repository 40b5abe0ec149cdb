package parquet

import (
	"fmt"
	"io"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestRowGroupsOfManyColumnsAreShorter: a row group holds at most 8,388,608 values, but at least
// 1,024 rows.
func TestRowGroupsOfManyColumnsAreShorter(t *testing.T) {
	for columns, want := range map[int]int{1: 131072, 64: 131072, 65: 129055, 4000: 2097, 9000: 1024} {
		var list []records.Column
		for j := range columns {
			list = append(list, records.Flag(fmt.Sprint(j), "no", "yes"))
		}
		s, err := records.NewSchema(list...)
		if err != nil {
			t.Fatal(err)
		}
		if got := newWriter(io.Discard, s).size; got != want {
			t.Errorf("%d columns: got groups of %d rows, want %d", columns, got, want)
		}
	}
}
