package records

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// SetTable holds records that are sets of items, ascending and without repetition, in compressed
// sparse rows. If the universe has at most 65,536 items, the table takes about two bytes for each
// item and four for each record. Four million records of eleven items then take about 105 MB. A
// SetTable is immutable.
//
// Records are encoded when they are added. Items outside the universe and repetitions are dropped,
// and a row of more than MaxItems items keeps MaxItems of them (see [Sets]). The table remembers
// these changes, but only for [Check].
type SetTable struct {
	private
	*setRef
}

// setRef hides its target from package fmt; see private.go.
type setRef struct{ *setRows }

type setRows struct {
	schema   Schema
	sets     setBlocks
	first, n int // the rows of the blocks that belong to this table
	labels   column
	defects  defects
	unit     string
	home     *origin
}

// FromItems returns a set table with a copy of the rows, each a list of item numbers in any order.
//
// Errors: *[param.Error] about the schema and the number of labels. Items are encoded as [SetTable]
// describes; [Check] is their strict test.
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

// FromCSR returns a set table with a copy of compressed sparse rows: row i holds
// items[offsets[i]:offsets[i+1]], in any order.
//
// Errors: *[param.Error] if offsets do not ascend or exceed the number of items; see also
// [FromItems].
func FromCSR(s Schema, offsets []int, items []uint32, labels ...int32) (*SetTable, error) {
	b, err := newSetBuilder(s)
	if err != nil {
		return nil, err
	}
	if len(offsets) == 0 || offsets[0] < 0 || !slices.IsSorted(offsets) ||
		offsets[len(offsets)-1] > len(items) {
		return nil, param.New("records.FromCSR.offsets", "wrong places",
			"one more than rows, ascending from 0 to at most the number of items")
	}
	for i := range len(offsets) - 1 {
		b.add(items[offsets[i]:offsets[i+1]])
	}
	return b.table(labels)
}

// Schema returns the public description of the records.
func (t *SetTable) Schema() Schema {
	if t == nil || t.setRef == nil {
		return Schema{}
	}
	return t.schema
}

// Len returns the number of records; see [Data] for when it is private.
func (t *SetTable) Len() int {
	if t == nil || t.setRef == nil {
		return 0
	}
	return t.n
}

// clone returns another table with the same storage.
func (t *SetTable) clone() *SetTable {
	rows := *t.setRows
	rows.home = t.home.derived()
	return &SetTable{setRef: &setRef{&rows}}
}

// Gather copies the given rows.
//
// Shapes: b.Sparse has len(rows) rows over Dim items.
func (t *SetTable) Gather(rows []int32, b *device.Batch) {
	out := sparseBuffer(b, len(rows), t.schema.dim)
	for k, i := range rows {
		out.Items = t.appendItems(out.Items, int(i))
		out.Offsets[k+1] = len(out.Items)
	}
	t.labels.gather(rows, b)
	indexRows(b, rows)
}

// Range copies rows lo … hi-1.
//
// Shapes: b.Sparse has hi-lo rows over Dim items.
func (t *SetTable) Range(lo, hi int, b *device.Batch) {
	t.span(lo, hi)
	out := sparseBuffer(b, hi-lo, t.schema.dim)
	for i := lo; i < hi; {
		block, at := t.sets.at(t.first + i)
		n := min(hi-i, block.rows()-at)
		base := len(out.Items) - int(block.offsets[at])
		out.Items = block.append(out.Items, at, at+n)
		for k := range n {
			out.Offsets[i-lo+k+1] = base + int(block.offsets[at+k+1])
		}
		i += n
	}
	t.labels.span(lo, hi, b)
	indexRange(b, lo, hi)
}

// span panics if the table does not have the rows: the blocks of a slice may hold more rows than
// the slice.
func (t *SetTable) span(lo, hi int) {
	if lo < 0 || hi < lo || hi > t.n {
		panic(fmt.Sprintf("records: rows [%d:%d] are not all in the table", lo, hi))
	}
}

// Items returns a copy of the items of one record, ascending.
func (t *SetTable) Items(i int) []uint32 { return t.appendItems(nil, i) }

// appendItems appends the items of one record, ascending, to dst.
func (t *SetTable) appendItems(dst []uint32, i int) []uint32 {
	t.span(i, i+1)
	block, at := t.sets.at(t.first + i)
	return block.append(dst, at, at+1)
}

// Label returns the class of one record, or -1 if the schema has no classes.
func (t *SetTable) Label(i int) int {
	if t.labels.classes == 0 {
		return -1
	}
	return int(t.labels.at(i))
}

// Labels returns the classes of all records, or nil if the schema has none.
func (t *SetTable) Labels() []int32 { return t.labels.all() }

// Take returns a table of copies of the given rows, in the given order. It keeps the unit if no row
// is taken twice. Otherwise the unit of rows of users becomes [UnitPart].
func (t *SetTable) Take(rows []int32) *SetTable {
	w := newBlockWriter(t.schema)
	var row []uint32
	for _, i := range rows {
		row = t.appendItems(row[:0], int(i))
		if w.add(row) {
			w.seal()
		}
	}
	w.seal()
	return &SetTable{setRef: &setRef{&setRows{schema: t.schema, sets: w.sealed, n: len(rows),
		labels: t.labels.take(rows),
		unit:   t.unitOf(rows), home: t.home.derived()}}}
}

func (t *SetTable) unitOf(rows []int32) string {
	unit := t.Unit()
	if unit == UnitRecord {
		return unit
	}
	sorted := slices.Clone(rows)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) < len(rows) {
		return UnitPart
	}
	return unit
}

// Slice returns the table of rows lo … hi-1, sharing storage.
func (t *SetTable) Slice(lo, hi int) *SetTable {
	t.span(lo, hi)
	return &SetTable{setRef: &setRef{&setRows{schema: t.schema, sets: t.sets, first: t.first + lo,
		n:      hi - lo,
		labels: t.labels.slice(lo, hi), unit: t.unit, home: t.home.derived()}}}
}

// WithoutLabels returns the same records without classes, sharing storage.
func (t *SetTable) WithoutLabels() *SetTable {
	out := t.clone()
	out.schema = t.schema.WithoutLabels()
	out.labels = column{}
	return out
}

// Unit returns what one record is; see [UnitOf].
func (t *SetTable) Unit() string {
	if t.unit == "" {
		return UnitRecord
	}
	return t.unit
}
