package rff

import (
	"math"
	"math/rand/v2"
)

// stream selects the stream of the random generator. Frequencies are then independent of other
// numbers that a program draws with the same seed.
const stream = 0x7266662d66726571

// table returns the frequencies as the columns of a row-major matrix (in × frequencies), and the
// phases, or nil if there are none. It draws them on the first call.
func (m *Map) table() (freq, phase []float32) {
	m.once.Do(func() {
		if m.freq == nil {
			m.freq, m.phase = m.draw()
		}
	})
	return m.freq, m.phase
}

func (m *Map) draw() (freq, phase []float32) {
	rng := rand.New(rand.NewPCG(m.seed, stream))
	n := m.spectrum.frequencies()
	freq = make([]float32, m.in*n)
	w := newDirections(m.spectrum, m.in)
	for j := range n {
		length := m.spectrum.lengthOf(j)
		for i, v := range w.next(rng) {
			freq[i*n+j] = float32(v * length)
		}
	}
	if m.spectrum.phase {
		phase = make([]float32, n)
		for j := range phase {
			phase[j] = float32(2 * math.Pi * rng.Float64())
		}
	}
	return freq, phase
}

// directions draws one frequency after another. If the map requires it, it makes the frequencies
// orthogonal within blocks whose size is the record width.
type directions struct {
	spectrum spectrum
	w        []float64
	basis    [][]float64 // unit vectors of the current block
}

func newDirections(s spectrum, in int) *directions {
	return &directions{spectrum: s, w: make([]float64, in)}
}

func (d *directions) next(rng *rand.Rand) []float64 {
	d.spectrum.draw(rng, d.w)
	if d.spectrum.orthogonal {
		d.orthogonalize(rng)
	}
	return d.w
}

// orthogonalize turns w so that it is orthogonal to the earlier frequencies of the block, and keeps
// its length. Each frequency keeps its distribution for two reasons. The length of an isotropic
// frequency is independent of its direction. Each vector of a uniformly random orthonormal basis
// has a uniform direction.
func (d *directions) orthogonalize(rng *rand.Rand) {
	if len(d.basis) == len(d.w) {
		d.basis = d.basis[:0]
	}
	length := norm(d.w)
	u := append([]float64(nil), d.w...)
	for !d.reject(u) {
		normal(rng, u, 1)
	}
	d.basis = append(d.basis, u)
	for i, v := range u {
		d.w[i] = v * length
	}
}

// reject subtracts from u its projection onto the span of the basis and scales the rest to length
// one. It returns false if only rounding errors remain. Two passes make the basis orthogonal to
// working precision.
func (d *directions) reject(u []float64) bool {
	if !scaleToUnit(u) {
		return false
	}
	for range 2 {
		for _, b := range d.basis {
			along := dot(u, b)
			for i, v := range b {
				u[i] -= along * v
			}
		}
		if norm(u) < 1e-9 || !scaleToUnit(u) {
			return false
		}
	}
	return true
}

func scaleToUnit(u []float64) bool {
	n := norm(u)
	if !(n > 0) || math.IsInf(n, 1) {
		return false
	}
	for i := range u {
		u[i] /= n
	}
	return true
}

func norm(u []float64) float64 { return math.Sqrt(dot(u, u)) }

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
