package compose

import (
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// TestPartsSeeTheirOwnLevels: a batch of records with the levels that were found is, for the part's
// clusters, one with the levels of the part's schema: those that were not found have no record, and
// the other level and missing values are last. The batch itself stays.
func TestPartsSeeTheirOwnLevels(t *testing.T) {
	s := must(records.NewSchema(records.Flag("f", "n", "y"),
		records.Hashed("town", 5).WithOther("else").WithMissing(), records.Numeric("x", 0, 10)))(t)
	m := must(foundIn(s, [][]string{{"Bern", "Chur"}}))(t)
	rows := must(records.FromValues(m.own, []any{"n", "Bern", 10}, []any{"y", "Chur", 5},
		[]any{"n", "else", 0}, []any{"y", nil, 10}))(t)
	var b device.Batch
	rows.Range(0, rows.Len(), &b)
	before := fmt.Sprint(b.Dense.Data)
	seen := m.viewed(b)
	if seen.Rows != 4 || seen.Dense.Cols != s.Dim() {
		t.Fatalf("%d rows of %d coordinates, want 4 of %d", seen.Rows, seen.Dense.Cols, s.Dim())
	}
	town := s.Blocks()[1]
	for i, level := range []int{0, 1, town.Width - 2, town.Width - 1} {
		row := seen.Dense.Row(i)
		for k, v := range row[town.Offset:][:town.Width] {
			if (v == 1) != (k == level) || v != 0 && v != 1 {
				t.Errorf("row %d has the levels %v, want level %d", i, row[town.Offset:][:town.Width], level)
			}
		}
		at, own := s.Blocks()[2].Offset, m.own.Blocks()[2].Offset
		if row[at] != b.Dense.Row(i)[own] || row[0] != float32(i%2) {
			t.Errorf("row %d has other columns: %v of %v", i, row, b.Dense.Row(i))
		}
	}
	if fmt.Sprint(b.Dense.Data) != before {
		t.Error("the batch has changed")
	}
}
