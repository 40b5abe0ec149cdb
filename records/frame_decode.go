package records

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// DecodeFlat returns a frame of row-major encoded vectors, such as the output of a network. Every
// row is inside the schema, whatever the numbers are, including NaN and infinities. The largest
// coordinate of a one-hot block gives the level. Numbers are scaled back between the column's
// bounds and rounded to the digits that a coordinate can distinguish. Whole numbers and ordered
// levels are rounded to the nearest. Outside one-hot blocks, a value is missing if its coordinate
// for a missing value exceeds one half.
//
// Shapes: encoded has n·Dim values; labels, present exactly if the schema has
// classes, has n.
// Errors: *[param.Error], about shapes and the schema only.
func DecodeFlat(s Schema, encoded []float32, labels ...int32) (*Frame, error) {
	b, err := NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	if len(encoded)%s.dim != 0 || len(encoded)/s.dim > maxRows {
		return nil, param.New("records values", len(encoded),
			fmt.Sprintf("a multiple of %d, the dimension of the schema", s.dim))
	}
	n := len(encoded) / s.dim
	classes, err := newColumn(s, n, labels)
	if err != nil {
		return nil, err
	}
	for j := range b.cells {
		b.cells[j] = s.table.cells[j].decode(encoded, s.dim, n, classes)
	}
	b.n = n
	return b.Frame(), nil
}

// decode reads one column of n encoded rows.
func (k *cellCode) decode(encoded []float32, dim, n int, classes column) cells {
	var c cells
	switch {
	case k.kind.isClass():
		c.levels = make([]uint16, n)
		for i := range n {
			c.levels[i] = uint16(classes.at(i))
		}
	case k.kind.hasLevels():
		c.levels = make([]uint16, n)
		for i := range n {
			c.levels[i] = k.decodeLevel(encoded[i*dim : (i+1)*dim])
		}
	case k.kind.isIdentifier():
		c.ticks = slices.Repeat([]int64{missingTick}, n)
	case k.tick != nil:
		c.ticks = make([]int64, n)
		for i := range n {
			c.ticks[i] = k.decodeTick(encoded[i*dim : (i+1)*dim])
		}
	default:
		c.numbers = make([]float64, n)
		for i := range n {
			c.numbers[i] = k.decodeNumber(encoded[i*dim : (i+1)*dim])
		}
	}
	return c
}

// clampRow replaces an encoded row by the nearest row that the schema can hold. Numbers without a
// missing value keep their digits; the caller clamps them to [0, 1] afterwards.
func (m *mixed) clampRow(row []float32) {
	for j := range m.cells {
		k := &m.cells[j]
		if !k.kind.encoded() {
			continue
		}
		block := row[k.offset : k.offset+k.total()]
		if k.kind.hasLevels() {
			code := k.decodeLevel(row)
			clear(block)
			k.encodeLevel(row, code)
			continue
		}
		if k.tick != nil {
			v := k.decodeTick(row)
			clear(block)
			k.encodeTick(row, v)
			continue
		}
		if k.whole || k.grid != nil || k.missing {
			v := k.decodeNumber(row)
			clear(block)
			k.encodeNumber(row, v)
		}
	}
}
