package rff

import "math"

// A Divisible embedding can be divided into parts. A training step can then compare only a part of
// the features.
type Divisible interface {
	Embedding
	// Divide divides the features into n parts of nearly equal size. Each part has all length scales
	// and windows of the embedding. Divide returns nil if the embedding cannot be divided into n
	// parts.
	Divide(n int) []Division
}

// A Division is a part of an embedding, and is itself an embedding. Its features are some features
// of the whole embedding, multiplied by a factor that gives them the norm of all features. The
// inner product of two records' features then has the same expectation.
type Division interface {
	Embedding
	// Select appends to dst the part's features. It takes them from row, which has all features of the
	// whole embedding, and scales them like the part's.
	Select(dst, row []float32) []float32
}

// Divide implements [Divisible]. A part consists of consecutive frequencies. Maps with phases
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

// division is a map with some consecutive frequencies of another map.
type division struct {
	*Map
	lo, hi, count int // frequencies lo … hi-1 of count
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

// Select implements [Division]. A row has all cosines first, and then all sines.
func (d division) Select(dst, row []float32) []float32 {
	for _, half := range [][]float32{row[:d.count], row[d.count:]} {
		for _, v := range half[d.lo:d.hi] {
			dst = append(dst, d.factor*v)
		}
	}
	return dst
}
