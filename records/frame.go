package records

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// Frame is a set of records of a table, whose columns hold numbers and levels; see [NewSchema]. It
// stores the values as they were given, a number in eight bytes and a level in two, and encodes
// them when batches are read.
//
// Whatever a cell holds, its record is encoded inside the schema: numbers are clamped, and unknown
// levels become the column's other level. [Check] is the strict test. A frame is immutable.
type Frame struct {
	private
	*frameRef
}

// frameRef hides its target from package fmt; see private.go.
type frameRef struct{ *frameRows }

type frameRows struct {
	schema Schema
	n      int
	cells  []cells // one for each column
	home   *origin
}

// cells holds the raw content of one column: numbers, level codes or ticks.
type cells struct {
	numbers []float64
	levels  []uint16
	ticks   []int64  // for identifiers, the numbers that they are made from
	texts   []string // beside the buckets of open columns; nil for generated rows
}

// Schema returns the public description of the records.
func (f *Frame) Schema() Schema {
	if f == nil || f.frameRef == nil {
		return Schema{}
	}
	return f.schema
}

// Len returns the number of records; see [Data] for when it is private.
func (f *Frame) Len() int {
	if f == nil || f.frameRef == nil {
		return 0
	}
	return f.n
}

// Gather encodes the given rows.
//
// Shapes: b.Dense is len(rows)×Dim, laid out as [Schema.Blocks] says.
func (f *Frame) Gather(rows []int32, b *device.Batch) {
	indexRows(b, rows)
	f.encode(b)
}

// Range encodes rows lo … hi-1.
//
// Shapes: b.Dense is (hi-lo)×Dim, laid out as [Schema.Blocks] says.
func (f *Frame) Range(lo, hi int, b *device.Batch) {
	indexRange(b, lo, hi)
	f.encode(b)
}

// encode fills a batch with the records of its index, column by column.
func (f *Frame) encode(b *device.Batch) {
	rows, dim := b.Index, f.schema.dim
	data := denseBuffer(b, len(rows), dim)
	clear(data)
	for j := range f.cells {
		code, cells := &f.schema.table.cells[j], f.cells[j]
		switch {
		case code.kind.isClass():
			b.Labels = resize(b.Labels, len(rows))
			for k, row := range rows {
				b.Labels[k] = int32(code.level(cells.levels[row]))
			}
		case code.kind.hasLevels():
			for k, row := range rows {
				code.encodeLevel(data[k*dim:(k+1)*dim], cells.levels[row])
			}
		case code.kind.isIdentifier():
		case code.tick != nil:
			for k, row := range rows {
				code.encodeTick(data[k*dim:(k+1)*dim], cells.ticks[row])
			}
		default:
			for k, row := range rows {
				code.encodeNumber(data[k*dim:(k+1)*dim], cells.numbers[row])
			}
		}
	}
	if f.schema.Classes() == 0 {
		b.Labels = nil
	}
}

// Number returns the number in one cell, clamped into the schema. It returns NaN for a missing
// value in a column that allows missing values ([Column.WithMissing]), and for a column of levels
// or identifiers. Datetimes are seconds since 1970 and durations are seconds, rounded to a float64;
// [Frame.Time], [Frame.Duration] and [Frame.Whole] are exact.
func (f *Frame) Number(row, column int) float64 {
	code := &f.schema.table.cells[column]
	switch {
	case !code.kind.isNumber():
		return math.NaN()
	case code.tick != nil:
		if k := code.tickOf(f.cells[column].ticks[row]); k != missingTick {
			return code.tick.float(k)
		}
		return math.NaN()
	}
	return code.number(f.cells[column].numbers[row])
}

// Level returns the index of one cell's level among the levels of the column. It returns -1 for a
// missing value in a column that allows missing values, and for a column of numbers.
func (f *Frame) Level(row, column int) int {
	code := &f.schema.table.cells[column]
	if !code.kind.hasLevels() {
		return -1
	}
	if l := code.level(f.cells[column].levels[row]); l != missingLevel {
		return int(l)
	}
	return -1
}

// Numbers returns the numbers of a column, as [Frame.Number] returns them.
func (f *Frame) Numbers(column int) []float64 {
	out := make([]float64, f.n)
	for i := range out {
		out[i] = f.Number(i, column)
	}
	return out
}

// Levels returns the levels of a column, as [Frame.Level] returns them.
func (f *Frame) Levels(column int) []int {
	out := make([]int, f.n)
	for i := range out {
		out[i] = f.Level(i, column)
	}
	return out
}

// Label returns the class of one record, or -1 if the schema has no classes.
func (f *Frame) Label(i int) int {
	if f.schema.table.label < 0 {
		return -1
	}
	return f.Level(i, f.schema.table.label)
}

// Labels returns the classes of all records, or nil if the schema has none.
func (f *Frame) Labels() []int32 {
	if f.schema.table.label < 0 {
		return nil
	}
	out := make([]int32, f.n)
	for i := range out {
		out[i] = int32(f.Label(i))
	}
	return out
}

// Row copies one encoded record into dst, which is allocated if it is too short, and returns it.
func (f *Frame) Row(dst []float32, i int) []float32 {
	dst = resize(dst, f.schema.dim)
	clear(dst)
	for j := range f.cells {
		code := &f.schema.table.cells[j]
		switch {
		case !code.kind.encoded():
		case code.kind.hasLevels():
			code.encodeLevel(dst, f.cells[j].levels[i])
		case code.tick != nil:
			code.encodeTick(dst, f.cells[j].ticks[i])
		default:
			code.encodeNumber(dst, f.cells[j].numbers[i])
		}
	}
	return dst
}

// Encoded returns the table of the encoded records: vectors of Dim coordinates in [0, 1], with the
// same classes. The writers of arrays, gonum matrices and tensors take such a table.
func (f *Frame) Encoded() *Table {
	s := Interval(f.schema.dim, 0, 1)
	s.classes, s.unknown = f.schema.classes, f.schema.unknown
	var b device.Batch
	f.Range(0, f.n, &b)
	labels := column{raw: b.Labels, classes: int32(len(s.classes)), unknown: int32(s.unknown)}
	return &Table{tableRef: &tableRef{&tableRows{schema: s, n: f.n, enc: newEncoder(s),
		flat:   b.Dense.Data,
		labels: labels, home: f.home.derived()}}}
}
