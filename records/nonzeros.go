package records

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Nonzeros holds encoded rows of a table as lists of the coordinates that are not zero, in
// ascending order. A row has at most two such coordinates for each column and one for each part of
// a date, whatever the number of levels. So the memory is proportional to rows and columns, not to
// [Schema.Dim].
//
// The zero value is empty. Reading into it reuses its memory.
type Nonzeros struct {
	private
	Rows    int
	Offsets []int // where each row begins and where the last one ends: Rows+1 numbers
	Places  []int32
	Values  []float32
	Labels  []int32 // nil if the schema has no classes
	Index   []int32 // the numbers of the rows among the records

	dense device.Batch // for data that is not a frame
}

// Row returns the coordinates of row i that are not zero, and their values.
func (z *Nonzeros) Row(i int) (places []int32, values []float32) {
	lo, hi := z.Offsets[i], z.Offsets[i+1]
	return z.Places[lo:hi], z.Values[lo:hi]
}

// Label returns the class of row i, 0 if the schema has no classes.
func (z *Nonzeros) Label(i int) int32 {
	if z.Labels == nil {
		return 0
	}
	return z.Labels[i]
}

// Range reads rows lo … hi-1 of a table: the same rows as [Data.Range].
func (z *Nonzeros) Range(d Data, lo, hi int) {
	z.Index = resize(z.Index, hi-lo)
	for k := range z.Index {
		z.Index[k] = int32(lo + k)
	}
	z.read(d, func(from, to int, b *device.Batch) { d.Range(lo+from, lo+to, b) })
}

// Gather reads the given rows of a table: the same rows as [Data.Gather].
func (z *Nonzeros) Gather(d Data, rows []int32) {
	z.Index = append(z.Index[:0], rows...)
	z.read(d, func(from, to int, b *device.Batch) { d.Gather(z.Index[from:to], b) })
}

// Reset removes all rows and keeps their memory. [Nonzeros.Append] and [Nonzeros.End] add new rows.
func (z *Nonzeros) Reset() {
	z.Rows = 0
	z.Offsets = append(z.Offsets[:0], 0)
	z.Places, z.Values, z.Labels = z.Places[:0], z.Values[:0], nil
}

// Append adds a coordinate to the row that is being written. Coordinates must ascend. Zeros are
// ignored.
func (z *Nonzeros) Append(place int, value float32) {
	if value != 0 {
		z.Places, z.Values = append(z.Places, int32(place)), append(z.Values, value)
	}
}

// End ends the row that is being written.
func (z *Nonzeros) End() {
	z.Offsets = append(z.Offsets, len(z.Places))
	z.Rows++
}

// denseCoordinates bounds the number of coordinates that are read densely at a time, from data
// other than frames.
const denseCoordinates = 1 << 18

// read fills the rows from a frame, or from dense pieces.
func (z *Nonzeros) read(d Data, piece func(from, to int, b *device.Batch)) {
	labels, n := z.Labels, len(z.Index)
	z.Reset()
	if d.Schema().Classes() > 0 {
		z.Labels = resize(labels, n)
	}
	if f, ok := AsFrame(d); ok {
		for k, row := range z.Index {
			f.nonzeros(z, k, int(row))
		}
		return
	}
	if f, ok := d.(*following); ok {
		for _, row := range z.Index {
			f.nonzeros(z, int(row))
		}
		return
	}
	step := max(denseCoordinates/max(d.Schema().Dim(), 1), 1)
	for from := 0; from < n; from += step {
		to := min(from+step, n)
		piece(from, to, &z.dense)
		for i := range to - from {
			for at, v := range z.dense.Dense.Row(i) {
				z.Append(at, v)
			}
			z.End()
		}
		if z.Labels != nil {
			copy(z.Labels[from:to], z.dense.Labels)
		}
	}
}

// nonzeros appends one row of a frame.
func (f *Frame) nonzeros(z *Nonzeros, k, row int) {
	for j := range f.cells {
		code, cells := &f.schema.table.cells[j], &f.cells[j]
		switch {
		case code.kind.isClass():
			z.Labels[k] = int32(code.level(cells.levels[row]))
		case code.kind.isIdentifier():
		case code.kind.hasLevels():
			z.level(code, code.level(cells.levels[row]))
		case code.tick != nil:
			z.tick(code, code.tickOf(cells.ticks[row]))
		default:
			z.number(code, code.number(cells.numbers[row]))
		}
	}
	z.End()
}

// number appends the coordinates that encodeNumber writes for a number inside the schema.
func (z *Nonzeros) number(k *cellCode, v float64) {
	if v != v {
		z.Append(k.offset+1, 1)
	} else {
		z.Append(k.offset, k.position(v))
	}
}

// level appends the coordinates that encodeLevel writes for a level inside the schema.
func (z *Nonzeros) level(k *cellCode, code uint16) {
	switch {
	case code == missingLevel:
		z.Append(k.offset+k.width-1, 1)
	case k.oneHot:
		z.Append(k.offset+int(code), 1)
	default:
		z.Append(k.offset, float32(code)/float32(k.levels-1))
	}
}

// tick appends the coordinates that encodeTick writes for a tick inside the schema.
func (z *Nonzeros) tick(k *cellCode, v int64) {
	if len(k.parts) == 0 && v != missingTick {
		z.Append(k.offset, k.tickPosition(v))
		return
	}
	row, own := k.own()
	own.encodeTick(row, v)
	for i, v := range row {
		z.Append(k.offset+i, v)
	}
}

// own returns a row for the coordinates of the column alone, and a code whose coordinates begin at
// 0.
func (k *cellCode) own() ([]float32, *cellCode) {
	own := *k
	own.offset = 0
	own.parts = slices.Clone(k.parts)
	for i := range own.parts {
		own.parts[i].offset -= k.offset
	}
	return make([]float32, k.total()), &own
}

// DecodeNonzeros is [DecodeFlat] for rows given by their nonzero coordinates. Its memory is
// proportional to rows and columns.
//
// Errors: *[param.Error], about shapes and the schema only.
func DecodeNonzeros(s Schema, z *Nonzeros) (*Frame, error) {
	b, err := NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	if err := z.check(s.dim); err != nil {
		return nil, err
	}
	labels, err := newColumn(s, z.Rows, z.Labels)
	if err != nil {
		return nil, err
	}
	next := slices.Clone(z.Offsets)
	for j := range b.cells {
		b.cells[j] = s.table.cells[j].decodeNonzeros(z, next, labels)
	}
	b.n = z.Rows
	return b.Frame(), nil
}

// check returns an error for rows that do not fit a schema of dim coordinates.
func (z *Nonzeros) check(dim int) error {
	if z == nil {
		return param.New("records.Nonzeros", nil, "rows")
	}
	if z.Rows < 0 || z.Rows > maxRows || z.Rows > 0 && len(z.Offsets) != z.Rows+1 {
		return param.New("records.Nonzeros.Offsets", unequal(len(z.Offsets)-1, z.Rows),
			"one for each row, and the end of the last")
	}
	if len(z.Places) != len(z.Values) {
		return param.New("records.Nonzeros.Values", "not as many as places",
			"one for each of the places")
	}
	for i := range z.Rows {
		lo, hi := z.Offsets[i], z.Offsets[i+1]
		if lo < 0 || hi < lo || hi > len(z.Places) {
			return param.New("records.Nonzeros.Offsets", fmt.Sprintf("row %d", i), "ascending places")
		}
		last := int32(-1)
		for _, p := range z.Places[lo:hi] {
			if p <= last || int(p) >= dim {
				return param.New("records.Nonzeros.Places", fmt.Sprintf("row %d", i),
					fmt.Sprintf("ascending coordinates below %d", dim))
			}
			last = p
		}
	}
	return nil
}

// decodeNonzeros reads one column. next holds the first coordinate of each row that no earlier
// column has read.
func (k *cellCode) decodeNonzeros(z *Nonzeros, next []int, labels column) cells {
	if !k.kind.encoded() || !k.oneHot {
		return k.decodeNarrow(z, next, labels)
	}
	c := cells{levels: make([]uint16, z.Rows)}
	for i := range c.levels {
		places, values := z.part(&next[i], z.Offsets[i+1], k.offset+k.width)
		best := largestNonzero(places, values, k.offset, k.width)
		if c.levels[i] = uint16(best); k.missing && best == k.width-1 {
			c.levels[i] = missingLevel
		}
	}
	return c
}

// decodeNarrow reads a column of few coordinates, row by row.
func (k *cellCode) decodeNarrow(z *Nonzeros, next []int, labels column) cells {
	row, own := k.own()
	if !k.kind.encoded() {
		return own.decode(nil, 0, z.Rows, labels)
	}
	var c cells
	for i := range z.Rows {
		clear(row)
		places, values := z.part(&next[i], z.Offsets[i+1], k.offset+len(row))
		for j, at := range places {
			row[int(at)-k.offset] = values[j]
		}
		one := own.decode(row, len(row), 1, column{})
		c.numbers = append(c.numbers, one.numbers...)
		c.levels = append(c.levels, one.levels...)
		c.ticks = append(c.ticks, one.ticks...)
	}
	return c
}

// part returns the nonzero coordinates below end from the next one of a row on, and moves next.
func (z *Nonzeros) part(next *int, last, end int) ([]int32, []float32) {
	first := *next
	for *next < last && int(z.Places[*next]) < end {
		*next++
	}
	return z.Places[first:*next], z.Values[first:*next]
}

// largestNonzero is [largest] for a block that is given by its nonzero coordinates.
func largestNonzero(places []int32, values []float32, offset, width int) int {
	best, most := -1, float32(0)
	for j, at := range places {
		if values[j] > most {
			best, most = int(at)-offset, values[j]
		}
	}
	if best >= 0 {
		return best
	}
	// All given values are negative or NaN: the first zero is the largest, if there is one.
	for j, at := range places {
		if int(at)-offset != j {
			return j
		}
	}
	if len(places) < width {
		return len(places)
	}
	return largest(values)
}
