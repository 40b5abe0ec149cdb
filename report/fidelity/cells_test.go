package fidelity

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// TestEveryRecordIsInOneCellOfEachColumn: whatever a record holds, it is in one cell of each
// column, which belongs to no other column. The stated sensitivity rests on that. Levels and bins
// are in their order, and a missing value is in the last cell.
func TestEveryRecordIsInOneCellOfEachColumn(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", -2, 6).WithMissing(),
		records.Categorical("c", "p", "q", "r").WithMissing(), records.Identifier("id", records.UUID()),
		records.Numeric("money", 0, 1e6).Logarithmic(), records.Flag("f", "n", "y"))
	if err != nil {
		t.Fatal(err)
	}
	config := Config{Schema: s, Bins: 4, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}
	p, err := config.Plan()
	if err != nil {
		t.Fatal(err)
	}
	list := p.Config.histograms()
	first := 0
	for _, h := range list {
		if h.first != first {
			t.Fatalf("the cells of column %d begin at %d, want %d", h.column, h.first, first)
		}
		first += h.cells
	}
	if len(list) != 4 || first != 5+4+5+3 || p.Cells != first || len(p.Config.Methods) > 0 ||
		p.Sensitivity != 2 {
		t.Fatalf("%d columns with %d cells, %+v", len(list), first, p)
	}
	for _, c := range []struct {
		column int
		value  any
		cell   int
	}{
		{0, -2.0, 0}, {0, -0.01, 0}, {0, 0.0, 1}, {0, 1.99, 1}, {0, 2.0, 2}, {0, 4.0, 3}, {0, 6.0, 3},
		{0, -1e300, 0}, {0, 1e300, 3}, {0, nil, 4}, {0, math.NaN(), 4}, {1, "p", 0}, {1, "q", 1},
		{1, "r", 2}, {1, nil, 3}, {1, "else", 3}, {3, 0.0, 0}, {3, 30.0, 0}, {3, 32.0, 1},
		{3, 998.0, 1},
		{3, 1001.0, 2}, {3, 1e6, 3}, {4, "n", 0}, {4, "y", 1},
	} {
		row := []any{0.0, "p", nil, 5.0, "n"}
		row[c.column] = c.value
		f, err := records.FromValues(s, row)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range list {
			got := h.cell(f, 0) - h.first
			if got < 0 || got >= h.cells || h.column == c.column && got != c.cell {
				t.Errorf("column %d holds %v: cell %d of column %d", c.column, c.value, got, h.column)
			}
		}
	}
}
