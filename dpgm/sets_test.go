package dpgm_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// TestNoSetIsLongerThanItsSchemaAllows checks that drawn sets have at most the schema's number of
// items, even if the network makes every item likely.
func TestNoSetIsLongerThanItsSchemaAllows(t *testing.T) {
	schema := records.Sets(12, 2)
	data := must(records.FromItems(schema, [][]uint32{{0, 1}, {2, 3}, {4}}))(t)
	generator := fit(t, small(schema, accountant.AddOrRemoveOne), data)
	full := 0
	for chunk, err := range generator.Stream(t.Context(), 200) {
		if err != nil {
			t.Fatal(err)
		}
		if err := records.Check(chunk); err != nil {
			t.Fatal(err)
		}
		err := records.EachSet(chunk, func(_ int, items []uint32) error {
			if len(items) == schema.MaxItems() {
				full++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if full < 100 {
		t.Errorf("only %d of 200 sets have the largest size: the test has no power", full)
	}
}
