package records

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// SetTable is a set of records that are each a set of items, in compressed
// sparse rows: the items of row i, ascending and without repetition, are
// items[offsets[i]:offsets[i+1]]. It is immutable.
//
// Encoding happens as records enter: items outside the universe are dropped,
// repetitions too, and a row of more than MaxItems items keeps MaxItems of them
// (see [Sets]). What was changed is remembered for [Check] and for nothing else.
type SetTable struct {
	schema  Schema
	offsets []int
	items   []uint32
	labels  column
	defects defects
}

// FromItems makes a set table of a copy of the rows, each a list of item
// numbers in any order.
//
// Errors: *[ShapeError] about the schema and the number of labels; items are
// encoded as [SetTable] says, and [Check] is the strict test of them.
func FromItems(s Schema, rows [][]uint32, labels ...int32) (*SetTable, error) {
	b, err := newSetBuilder(s)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		b.add(row)
	}
	return b.table(labels)
}

// FromCSR makes a set table of a copy of compressed sparse rows: row i holds
// items[offsets[i]:offsets[i+1]], in any order.
//
// Errors: *[ShapeError] where offsets do not ascend within items, and those of
// [FromItems].
func FromCSR(s Schema, offsets []int, items []uint32, labels ...int32) (*SetTable, error) {
	b, err := newSetBuilder(s)
	if err != nil {
		return nil, err
	}
	if len(offsets) == 0 || offsets[0] < 0 || !slices.IsSorted(offsets) || offsets[len(offsets)-1] > len(items) {
		return nil, &ShapeError{"records offsets", fmt.Sprintf("%d offsets", len(offsets)), "one more than rows, ascending, within the items"}
	}
	for i := range len(offsets) - 1 {
		b.add(items[offsets[i]:offsets[i+1]])
	}
	return b.table(labels)
}

// Schema is the public description of the records.
func (t *SetTable) Schema() Schema { return t.schema }

// Len is the number of records; see [Data] for when it is private.
func (t *SetTable) Len() int { return len(t.offsets) - 1 }

// Gather copies the given rows.
//
// Shapes: b.Sparse has len(rows) rows over Dim items.
func (t *SetTable) Gather(rows []int32, b *device.Batch) {
	out := sparseBuffer(b, len(rows), t.schema.dim)
	for k, i := range rows {
		out.Items = append(out.Items, t.Items(int(i))...)
		out.Offsets[k+1] = len(out.Items)
	}
	t.labels.gather(rows, b)
	indexRows(b, rows)
}

// Range copies rows lo … hi-1.
//
// Shapes: b.Sparse has hi-lo rows over Dim items.
func (t *SetTable) Range(lo, hi int, b *device.Batch) {
	out := sparseBuffer(b, hi-lo, t.schema.dim)
	first := t.offsets[lo]
	out.Items = append(out.Items, t.items[first:t.offsets[hi]]...)
	for i := lo; i <= hi; i++ {
		out.Offsets[i-lo] = t.offsets[i] - first
	}
	t.labels.span(lo, hi, b)
	indexRange(b, lo, hi)
}

// Items are the items of one record, ascending. The slice is the table's own:
// do not write to it.
func (t *SetTable) Items(i int) []uint32 {
	lo, hi := t.offsets[i], t.offsets[i+1]
	return t.items[lo:hi:hi]
}

// Label is the class of one record; -1 where the schema has no classes.
func (t *SetTable) Label(i int) int {
	if t.labels.classes == 0 {
		return -1
	}
	return int(t.labels.at(i))
}

// Labels are the classes of all records; nil where the schema has none.
func (t *SetTable) Labels() []int32 { return t.labels.all() }

// Take returns a table of copies of the given rows, in that order.
func (t *SetTable) Take(rows []int32) *SetTable {
	out := &SetTable{schema: t.schema, offsets: make([]int, 1, len(rows)+1), labels: t.labels.take(rows)}
	for _, i := range rows {
		out.items = append(out.items, t.Items(int(i))...)
		out.offsets = append(out.offsets, len(out.items))
	}
	return out
}

// Slice returns the table of rows lo … hi-1, sharing storage.
func (t *SetTable) Slice(lo, hi int) *SetTable {
	return &SetTable{schema: t.schema, offsets: t.offsets[lo : hi+1], items: t.items, labels: t.labels.slice(lo, hi)}
}

// WithoutLabels returns the same records without classes, sharing storage.
func (t *SetTable) WithoutLabels() *SetTable {
	out := *t
	out.schema = t.schema.WithoutLabels()
	out.labels = column{}
	return &out
}

// RowsByLabel lists the rows of each class. The lists are as private as the
// labels.
func (t *SetTable) RowsByLabel() [][]int32 { return t.labels.byClass() }
