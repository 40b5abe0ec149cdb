package records

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

func (e encoder) value(v float32) float32 {
	var one [1]float32
	e.row(one[:], []float32{v})
	return one[0]
}

// clamp writes every value inside [lo, hi]. The comparisons are written so that
// NaN fails the first and becomes lo; adding zero turns -0 into 0.
func clamp(dst, src []float32, lo, hi float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		if !(v > lo) {
			v = lo
		}
		if v > hi {
			v = hi
		}
		dst[i] = v + 0
	}
}

// threshold writes 1 where a value reaches t and 0 elsewhere, NaN included.
func threshold(dst, src []float32, t float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		var bit float32
		if v >= t {
			bit = 1
		}
		dst[i] = bit
	}
}
