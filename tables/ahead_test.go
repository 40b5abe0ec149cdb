package tables

import (
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestRowsInAnyRequests: rows that are drawn ahead come in their order, each with its own class,
// whatever the sizes of the requests.
func TestRowsInAnyRequests(t *testing.T) {
	drawn, next := 0, 0
	a := ahead{now: new(records.Nonzeros), other: new(records.Nonzeros),
		draw: func(z *records.Nonzeros) {
			z.Append(0, float32(drawn+1)) // 0 would not be listed
			z.Labels = append(z.Labels, int32(drawn))
			z.End()
			drawn++
		}}
	for _, n := range []int{3, 3, 2, 1, 5, 5, 4, 1, 9, 1, 1, 7} {
		z := a.rows(n)
		for i := range n {
			_, v := z.Row(i)
			if len(v) != 1 || v[0] != float32(next+1) || z.Labels[i] != int32(next) {
				t.Fatalf("row %d of a request of %d has %v and class %d, want %d", i, n, v, z.Labels[i],
					next)
			}
			next++
		}
		if z.Rows != n || len(z.Labels) != n {
			t.Fatalf("%d rows and %d classes, want %d", z.Rows, len(z.Labels), n)
		}
	}
}
