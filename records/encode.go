package records

import (
	"math"
	"slices"
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
		threshold(dst, src, 0.5)
		return
	}
	clamp(dst, src, e.lo, e.hi)
}

// Clamp moves coordinates into the schema, in place, just as records are clamped
// when they are read: values to the bounds, binary ones to 0 or 1, what is not a number to the
// lower bound. It is for values made outside, such as means a network states.
//
// Rows of a table become rows that the schema can hold: of a one-hot block the largest coordinate becomes 1 and the
// others 0.
//
// Shapes: any number of coordinates; of a table whole rows, and a rest that is no row is clamped to [0, 1].
func (s Schema) Clamp(values []float32) {
	if s.table != nil && s.dim > 0 {
		for row := range slices.Chunk(values[:len(values)/s.dim*s.dim], s.dim) {
			s.table.clampRow(row)
		}
	}
	newEncoder(s).row(values, values)
}

func (e encoder) value(v float32) float32 {
	var one [1]float32
	e.row(one[:], []float32{v})
	return one[0]
}

// clamp writes every value inside [lo, hi]. The comparisons are written so that
// NaN fails the first and becomes lo; adding zero turns -0 into 0. Selecting
// among bit patterns compiles to conditional moves, where selecting among floats
// would branch on data that no predictor can guess.
func clamp(dst, src []float32, lo, hi float32) {
	dst = dst[:len(src)]
	below, above := math.Float32bits(lo), math.Float32bits(hi)
	for i, v := range src {
		bits := math.Float32bits(v + 0)
		if v > hi {
			bits = above
		}
		if !(v > lo) {
			bits = below
		}
		dst[i] = math.Float32frombits(bits)
	}
}

// threshold writes 1 where a value reaches t and 0 elsewhere, NaN included.
func threshold(dst, src []float32, t float32) {
	const one = 0x3f800000 // the bits of 1
	dst = dst[:len(src)]
	for i, v := range src {
		var bits uint32
		if v >= t {
			bits = one
		}
		dst[i] = math.Float32frombits(bits)
	}
}
