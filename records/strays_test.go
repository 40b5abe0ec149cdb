package records_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// listed is data of a user-defined type that returns sets unchanged.
type listed struct {
	schema records.Schema
	rows   [][]uint32
}

func (l listed) Schema() records.Schema { return l.schema }
func (l listed) Len() int               { return len(l.rows) }

func (l listed) Gather(rows []int32, b *device.Batch) {
	b.Rows, b.Sparse = len(rows), &device.Sparse{Cols: l.schema.Dim(), Offsets: []int{0}}
	for _, i := range rows {
		b.Sparse.Items = append(b.Sparse.Items, l.rows[i]...)
		b.Sparse.Offsets = append(b.Sparse.Offsets, len(b.Sparse.Items))
	}
}

func (l listed) Range(lo, hi int, b *device.Batch) {
	var rows []int32
	for i := lo; i < hi; i++ {
		rows = append(rows, int32(i))
	}
	l.Gather(rows, b)
}

// TestRepeatedItemsOfOtherTypes: a set that lists an item twice holds it once, and has the norm of
// a set.
func TestRepeatedItemsOfOtherTypes(t *testing.T) {
	d := records.Clamped(listed{records.Sets(9, 6), [][]uint32{{3, 3, 1}, {5, 5, 5}, {8, 0, 8, 0}}})
	var b device.Batch
	d.Range(0, 3, &b)
	for i, want := range [][]uint32{{1, 3}, {5}, {0, 8}} {
		if got := b.Sparse.Row(i); !slices.Equal(got, want) {
			t.Errorf("row %d is %v, want %v", i, got, want)
		}
	}
}

// TestNumbersBeyondTheUniverse: a number that is too large for an item is dropped, whatever the
// number of its digits, and never truncated to 32 or 64 bits.
func TestNumbersBeyondTheUniverse(t *testing.T) {
	text := "4294967297 2\n18446744073709551617\n4294967296 18446744073709551616\n" +
		strings.Repeat("9", 400) + " 4\n"
	d := must(records.ReadTransactions(strings.NewReader(text), records.Sets(9, 6)))(t)
	for i, want := range [][]uint32{{2}, nil, nil, {4}} {
		if got := d.Items(i); !slices.Equal(got, want) {
			t.Errorf("line %d is %v, want %v", i+1, got, want)
		}
	}
}
