package dpgm_test

import (
	"context"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/records"
)

// TestNoSetIsLongerThanItsSchemaAllows, however likely the network makes every item.
func TestNoSetIsLongerThanItsSchemaAllows(t *testing.T) {
	schema := records.Sets(12, 2)
	data, err := records.FromItems(schema, [][]uint32{{0, 1}, {2, 3}, {4}})
	if err != nil {
		t.Fatal(err)
	}
	plan := mustPlan(t, small(schema, accountant.AddOrRemoveOne))
	model, err := dpgm.Fit(context.Background(), plan, data, accountant.NewLedger(plan.Config.Budget))
	if err != nil {
		t.Fatal(err)
	}
	full := 0
	for chunk, err := range model.Chunks(context.Background(), 200, dpgm.All()) {
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
		t.Errorf("%d of 200 sets are full: nothing had to be cut", full)
	}
}
