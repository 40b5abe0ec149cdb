package beam

import (
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// TestRowsInAnyOrder: which of a person's rows counts does not depend on the order in which they
// arrive, even if several have one ID.
func TestRowsInAnyOrder(t *testing.T) {
	s, err := records.NewSchema(records.Integer("x", 0, 9), records.Integer("y", 0, 9).WithMissing())
	if err != nil {
		t.Fatal(err)
	}
	all := []Row{{ID: "b", Person: "p", Values: []string{"1", "1"}},
		{ID: "a", Person: "p", Values: []string{"7"}},
		{ID: "a", Person: "p", Values: []string{"7", "3"}},
		{ID: "a", Person: "p", Values: []string{"8", "0"}}}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 3, 0, 1}, {1, 3, 2, 0}} {
		at := 0
		d, err := (Parts{Unit: records.UnitUser, N: 2}).bound(s, 1, func(r *Row) bool {
			if at == len(order) {
				return false
			}
			*r = all[order[at]]
			at++
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		f, _ := records.AsFrame(d)
		if f.Len() != 1 || f.Value(0, 0) != "7" || f.Value(0, 1) != "" {
			t.Errorf("in the order %v, the row %s, %s counts", order, f.Value(0, 0), f.Value(0, 1))
		}
	}
}

// TestUnknownItemsTakeNoPlace: items outside the universe are dropped before a set is cut to the
// schema's maximum, as on one machine.
func TestUnknownItemsTakeNoPlace(t *testing.T) {
	s := records.Sets(6, 3)
	for _, items := range [][]uint32{{1, 4, 7, 8, 9, 10}, {0, 1, 2, 3, 4, 5, 99},
		{7, 8, 9, 10}, {5, 5, 9, 9}} {
		one := true
		d, err := (Parts{Unit: records.UnitRecord, N: 2}).bound(s, 1, func(r *Row) bool {
			*r, one = Row{ID: "a", Items: slices.Clone(items)}, !one
			return !one
		})
		if err != nil {
			t.Fatal(err)
		}
		want, err := records.FromItems(s, [][]uint32{items})
		if err != nil {
			t.Fatal(err)
		}
		var got, here device.Batch
		d.Range(0, 1, &got)
		want.Range(0, 1, &here)
		if !slices.Equal(got.Sparse.Items, here.Sparse.Items) {
			t.Errorf("%v becomes %v, want %v", items, got.Sparse.Items, here.Sparse.Items)
		}
	}
}
