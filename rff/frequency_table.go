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
		if m.freq == nil { // otherwise the map is a part of another
			m.freq, m.phase = m.draw()
		}
	})
	return m.freq, m.phase
}

func (m *Map) draw() (freq, phase []float32) {
	rng := rand.New(rand.NewPCG(m.seed, stream))
	n := m.spectrum.frequencies()
	freq = make([]float32, m.in*n)
	w := make([]float64, m.in)
	for j := range n {
		length := m.spectrum.lengthOf(j)
		m.spectrum.draw(rng, w)
		for i, v := range w {
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

func norm(u []float64) float64 {
	var s float64
	for _, v := range u {
		s += v * v
	}
	return math.Sqrt(s)
}
