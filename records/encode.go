package records

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// encoder turns raw values into a schema's values. It is total: whatever the
// input, the output is in the schema.
type encoder struct {
	binary bool
	lo, hi float32
}

func newEncoder(s Schema) encoder {
	lo, hi := innerBounds(s.lo, s.hi)
	return encoder{binary: s.IsBinary(), lo: lo, hi: hi}
}

// row encodes src into dst, which has the same length.
func (e encoder) row(dst, src []float32) {
	if e.binary {
		device.Threshold(dst, src, 0.5)
		return
	}
	device.Clamp(dst, src, e.lo, e.hi)
}

// Clamp moves coordinates into the schema, in place, as readers do. Values outside the bounds move
// to the nearer bound, binary values become 0 or 1, and NaN becomes the lower bound. It is for
// values computed elsewhere, such as the means that a network predicts.
//
// Rows of a table become rows that the schema can hold: the largest coordinate of a one-hot block
// becomes 1 and the others 0.
//
// Shapes: any number of coordinates. For a table they are read as rows; a remainder that is not a
// whole row is clamped to [0, 1].
func (s Schema) Clamp(values []float32) {
	if s.table != nil && s.dim > 0 {
		for row := range slices.Chunk(values[:len(values)/s.dim*s.dim], s.dim) {
			s.table.clampRow(row)
		}
	}
	newEncoder(s).row(values, values)
}

// value encodes one number as row does.
func (e encoder) value(v float32) float32 {
	switch {
	case e.binary && v >= 0.5:
		return 1
	case e.binary:
		return 0
	case !(v > e.lo):
		return e.lo
	case v > e.hi:
		return e.hi
	}
	return v + 0 // -0 becomes 0
}
