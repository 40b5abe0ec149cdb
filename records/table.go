package records

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Table is a set of dense records: vectors or images. It holds them as float32
// or, four times smaller, as bytes that stand for 256 levels.
//
// A table is immutable, but it shares the slice given to [FromFlat] with the caller: do not write
// to that slice while the table is in use.
type Table struct {
	private
	*tableRef
}

// tableRef hides its target from package fmt; see private.go.
type tableRef struct{ *tableRows }

type tableRows struct {
	schema Schema
	n      int
	enc    encoder
	flat   []float32     // row-major raw values, or
	bytes  []uint8       // row-major levels …
	level  *[256]float32 // … and the encoded value each stands for
	labels column
	home   *origin
}

// FromFlat returns a table of the rows of a row-major slice, which it shares.
//
// Shapes: flat has n·Dim values. labels has n values if the schema has classes, otherwise none.
// Errors: *[param.Error], about shapes only: values are clamped when they are read. [Check] is
// their strict test.
func FromFlat(s Schema, flat []float32, labels ...int32) (*Table, error) {
	t, err := newTable(s, len(flat), labels)
	if err != nil {
		return nil, err
	}
	t.flat = flat
	return t, nil
}

// FromBytes returns a table of row-major bytes, sharing the slice. 0 stands for the schema's lower
// bound and 255 for its upper bound. In a binary schema a byte of 128 or more is 1.
//
// Shapes: see [FromFlat]. Errors: see [FromFlat].
func FromBytes(s Schema, levels []uint8, labels ...int32) (*Table, error) {
	t, err := newTable(s, len(levels), labels)
	if err != nil {
		return nil, err
	}
	t.bytes = levels
	t.level = levelsOf(s)
	return t, nil
}

// levelsOf returns a table of the encoded value of every byte.
func levelsOf(s Schema) *[256]float32 {
	e := newEncoder(s)
	var level [256]float32
	for i := range level {
		level[i] = e.value(float32(s.lo + (s.hi-s.lo)*float64(i)/255))
	}
	return &level
}

// FromRows returns a table with a copy of the rows.
//
// Errors: *[param.Error] if a row's length is not the schema's dimension; see also [FromFlat].
func FromRows(s Schema, rows [][]float32, labels ...int32) (*Table, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	for i, row := range rows {
		if len(row) != s.dim {
			return nil, param.New(fmt.Sprintf("records.FromRows.rows[%d]", i),
				fmt.Sprintf("length %d", len(row)), fmt.Sprintf("length %d", s.dim))
		}
	}
	return FromFlat(s, slices.Concat(rows...), labels...)
}

// newTable returns a table without values; all kinds of storage share this part.
func newTable(s Schema, values int, labels []int32) (*Table, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Sparse() {
		return nil, param.New("records.Schema.Kind", s.kind, "vectors or images; sets make a SetTable")
	}
	if s.kind == MixedTable {
		return nil, param.New("records.Schema.Kind", s.kind, "vectors or images; tables make a Frame")
	}
	if values%s.dim != 0 {
		return nil, param.New("records values", "a wrong number",
			fmt.Sprintf("a multiple of %d, the dimension of the schema", s.dim))
	}
	n := values / s.dim
	if n > maxRows {
		return nil, param.New("records rows", "too many", fmt.Sprintf("at most %d", maxRows))
	}
	c, err := newColumn(s, n, labels)
	if err != nil {
		return nil, err
	}
	return &Table{tableRef: &tableRef{&tableRows{schema: s.ByPerson(0), n: n,
		enc: newEncoder(s), labels: c,
		home: new(origin)}}}, nil
}

// maxRows is the largest number of rows that row numbers of a batch can represent.
const maxRows = 1<<31 - 1

// Schema returns the public description of the records.
func (t *Table) Schema() Schema {
	if t == nil || t.tableRef == nil {
		return Schema{}
	}
	return t.schema
}

// Len returns the number of records; see [Data] for when it is private.
func (t *Table) Len() int {
	if t == nil || t.tableRef == nil {
		return 0
	}
	return t.n
}

// clone returns another table with the same storage.
func (t *Table) clone() *Table {
	rows := *t.tableRows
	rows.home = t.home.derived()
	return &Table{tableRef: &tableRef{&rows}}
}

// Gather copies the given rows, clamped into the schema.
//
// Shapes: b.Dense is len(rows)×Dim.
func (t *Table) Gather(rows []int32, b *device.Batch) {
	t.BeginGather(rows, b)
	t.GatherPart(rows, b, 0, len(rows))
}

// BeginGather does everything that Gather does except copying the rows. Then GatherPart for ranges
// that together cover all rows, in any order or concurrently, has the same effect as Gather.
func (t *Table) BeginGather(rows []int32, b *device.Batch) {
	denseBuffer(b, len(rows), t.schema.dim)
	t.labels.gather(rows, b)
	indexRows(b, rows)
}

// GatherPart copies the rows at positions lo … hi-1 of the list that BeginGather was given.
func (t *Table) GatherPart(rows []int32, b *device.Batch, lo, hi int) {
	dim := t.schema.dim
	for k := lo; k < hi; k++ {
		t.encodeRow(b.Dense.Data[k*dim:(k+1)*dim], int(rows[k]))
	}
}

// Range copies rows lo … hi-1, clamped into the schema.
//
// Shapes: b.Dense is (hi-lo)×Dim.
func (t *Table) Range(lo, hi int, b *device.Batch) {
	dim := t.schema.dim
	data := denseBuffer(b, hi-lo, dim)
	for i := lo; i < hi; i++ {
		t.encodeRow(data[(i-lo)*dim:(i-lo+1)*dim], i)
	}
	t.labels.span(lo, hi, b)
	indexRange(b, lo, hi)
}

func (t *Table) encodeRow(dst []float32, i int) {
	dim := t.schema.dim
	if t.bytes == nil {
		t.enc.row(dst, t.flat[i*dim:(i+1)*dim])
		return
	}
	src := t.bytes[i*dim : (i+1)*dim]
	dst = dst[:len(src)]
	for j, v := range src {
		dst[j] = t.level[v]
	}
}

// Row copies one record, clamped into the schema, into dst, which is allocated if it is too short,
// and returns it.
func (t *Table) Row(dst []float32, i int) []float32 {
	dst = resize(dst, t.schema.dim)
	t.encodeRow(dst, i)
	return dst
}

// Label returns the class of one record, clamped into the schema, or -1 if the schema has no
// classes.
func (t *Table) Label(i int) int {
	if t.labels.classes == 0 {
		return -1
	}
	return int(t.labels.at(i))
}

// Labels returns the classes of all records, clamped into the schema, or nil if the schema has
// none.
func (t *Table) Labels() []int32 { return t.labels.all() }

// Flat returns the table's row-major values. If the table holds float32 values, it returns the
// table's own slice, with the values as they were given, and shared is true. Otherwise it returns
// an encoded copy.
func (t *Table) Flat() (values []float32, shared bool) {
	if t.bytes == nil {
		return t.flat, true
	}
	dim := t.schema.dim
	values = make([]float32, t.n*dim)
	for i := range t.n {
		t.encodeRow(values[i*dim:(i+1)*dim], i)
	}
	return values, false
}
