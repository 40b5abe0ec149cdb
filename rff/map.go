package rff

import (
	"math"
	"sync"

	"github.com/seed7ba64551/privgen/device"
)

// Map is a drawn feature map from records of a public width to Dim features.
// It is safe for concurrent use.
//
// Guarantee: for every finite record, the float32 row that Transform writes has a Euclidean norm of
// at most NormBound. If a record is so large that a projection overflows, the row is not finite,
// and private sums replace it by zero.
type Map struct {
	kernel   Kernel
	spectrum spectrum
	in       int
	seed     uint64

	once  sync.Once
	freq  []float32 // in × frequencies, drawn on first use
	phase []float32

	mu     sync.Mutex
	placed []*placement
}

// Dim returns the number of features.
func (m *Map) Dim() int { return m.spectrum.dim }

// In returns the record width for which the map was drawn.
func (m *Map) In() int { return m.in }

// Table returns the number of values of the frequencies, which are drawn on first use.
func (m *Map) Table() int64 { return int64(m.in) * int64(m.spectrum.frequencies()) }

// NormBound returns the largest Euclidean norm that a row of features can have: 1 for pairs of
// cosine and sine, √2 for phases.
func (m *Map) NormBound() float64 {
	if m.spectrum.phase {
		return math.Sqrt2
	}
	return 1
}

// guard is the relative margin below the norm bound that allows for the rounding of cosines, sines
// and their scaling. If a cosine and a sine each have an absolute error of at most e, cos²+sin²
// changes by at most 2√2·e. So 2⁻²⁰ covers errors of 11·2⁻²⁴ each, which is several times the error
// of any device's functions.
const guard = 1.0 / (1 << 20)

// scale returns the factor of every cosine and sine, rounded down to float32.
func (m *Map) scale() float32 {
	s := m.NormBound() / math.Sqrt(float64(m.spectrum.frequencies())) * (1 - guard)
	f := float32(s)
	if float64(f) > s {
		f = math.Nextafter32(f, 0)
	}
	return f
}

// Transform writes the features of the batch's records into dst.
//
// Shapes: dst is b.Rows × Dim in be's memory; records have width In. Sparse records are not
// converted to dense records; they take time O(items × Dim).
func (m *Map) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	p := m.place(be)
	if m.spectrum.phase {
		m.transformPhase(be, p, b, dst)
		return
	}
	projection := dst.Slice(0, b.Rows, 0, m.spectrum.frequencies())
	project(be, b, p.freq, projection)
	be.CosSin(dst, projection, m.scale())
}

func project(be device.Backend, b device.Batch, freq, dst device.Matrix) {
	if b.Sparse != nil {
		be.SparseGemm(b.Sparse, freq, 0, dst)
		return
	}
	be.Gemm(false, false, 1, device.Colocate(be, b.Dense, dst), freq, 0, dst)
}

// transformPhase computes the features of a map with phases. Devices compute cosines and sines
// together, so it uses scratch rows of twice the width, in blocks of bounded size, and copies only
// the cosines.
func (m *Map) transformPhase(be device.Backend, p *placement, b device.Batch, dst device.Matrix) {
	n := m.spectrum.frequencies()
	step := m.blockRows()
	scratch := p.take(be, step, 2*n)
	defer p.give(scratch)
	for lo := 0; lo < b.Rows; lo += step {
		hi := min(lo+step, b.Rows)
		both, out := scratch.RowRange(0, hi-lo), dst.RowRange(lo, hi)
		cosines := both.Slice(0, hi-lo, 0, n)
		project(be, b.Slice(lo, hi), p.freq, cosines)
		be.BiasApply(device.Identity, cosines, p.phase)
		be.CosSin(both, cosines, m.scale())
		be.Fill(out, 0)
		be.Axpy(1, cosines, out)
	}
}
