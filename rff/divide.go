package rff

import "math"

// A Divisible embedding can be divided into parts, for training steps that compare only some of the
// features.
type Divisible interface {
	Embedding
	// Divide divides the features into n parts of nearly equal size, each of which has all length
	// scales and windows of the whole. It returns nil if the map cannot be divided into that many.
	Divide(n int) []Division
}

// A Division is a part of an embedding, and an embedding itself. Its features are some of those of
// the whole, times a factor that gives them the norm of the whole, so that the inner product of two
// records' features has the same expectation.
type Division interface {
	Embedding
	// Select appends the part's features of a row of all features, scaled as in the part.
	Select(dst, row []float32) []float32
}

// Divide implements [Divisible]: a part is a run of consecutive frequencies. Maps with phases
// cannot be divided.
func (m *Map) Divide(n int) []Division {
	count := m.spectrum.frequencies()
	if m.spectrum.phase || n < 1 || n > count {
		return nil
	}
	parts := make([]Division, n)
	for i := range parts {
		parts[i] = m.run(i*count/n, (i+1)*count/n)
	}
	return parts
}

// division is the map of consecutive frequencies of another map.
type division struct {
	*Map
	lo, hi, count int // of count frequencies
	factor        float32
}

func (m *Map) run(lo, hi int) division {
	freq, _ := m.table()
	count := m.spectrum.frequencies()
	own := make([]float32, 0, m.in*(hi-lo))
	for i := range m.in {
		own = append(own, freq[i*count+lo:i*count+hi]...)
	}
	s := m.spectrum
	s.dim = 2 * (hi - lo)
	return division{Map: &Map{kernel: m.kernel, spectrum: s, in: m.in, seed: m.seed, freq: own},
		lo: lo, hi: hi, count: count, factor: float32(math.Sqrt(float64(count) / float64(hi-lo)))}
}

// Select implements [Division]: cosines come first, then sines.
func (d division) Select(dst, row []float32) []float32 {
	for _, half := range [][]float32{row[:d.count], row[d.count:]} {
		for _, v := range half[d.lo:d.hi] {
			dst = append(dst, d.factor*v)
		}
	}
	return dst
}
