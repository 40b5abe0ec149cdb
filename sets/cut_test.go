package sets_test

import (
	"context"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// TestNoSetIsLongerThanItsSchemaAllows checks that generated sets are truncated to the schema's
// largest size.
func TestNoSetIsLongerThanItsSchemaAllows(t *testing.T) {
	schema := records.Sets(8, 2)
	var rows [][]uint32
	for i := range uint32(400) {
		rows = append(rows, []uint32{i % 8, (i + 3) % 8})
	}
	data := must(records.FromItems(schema, rows))(t)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	for name, p := range plans(t, schema, budget) {
		gen := must(p.Fit(context.Background(), data))(t)
		for chunk, err := range gen.Stream(context.Background(), 500) {
			if err != nil {
				t.Fatal(err)
			}
			if err := records.Check(chunk); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
