package rff

import "github.com/seed7ba64551/privgen/device"

// ChangeBound returns 2·NormBound, because the features of two records can be opposite vectors.
func (m *Map) ChangeBound() float64 { return 2 * m.NormBound() }

// Backward implements [Embedding]. It computes projections again instead of keeping them from
// Transform, so it can be called without a preceding Transform.
func (m *Map) Backward(be device.Backend, x, delta, dx device.Matrix) {
	p := m.place(be)
	n := m.spectrum.frequencies()
	step := m.blockRows()
	scratch := p.take(be, step, 2*n)
	defer p.give(scratch)
	for lo := 0; lo < x.Rows; lo += step {
		hi := min(lo+step, x.Rows)
		both := scratch.RowRange(0, hi-lo)
		slope := both.Slice(0, hi-lo, 0, n)
		be.Gemm(false, false, 1, x.RowRange(lo, hi), p.freq, 0, slope)
		m.slopes(be, p, both, slope, delta.RowRange(lo, hi))
		be.Gemm(false, true, 1, slope, p.freq, 0, dx.RowRange(lo, hi))
	}
}

// slopes replaces the projections, which are the left half of both, by the derivative of the loss
// with respect to them. It uses cos′ = −sin and sin′ = cos.
func (m *Map) slopes(be device.Backend, p *placement, both, slope, delta device.Matrix) {
	n := slope.Cols
	sines := both.Slice(0, both.Rows, n, 2*n)
	if m.spectrum.phase {
		be.BiasApply(device.Identity, slope, p.phase)
		be.CosSin(both, slope, -m.scale())
		be.Mul(slope, sines, delta)
		return
	}
	be.CosSin(both, slope, m.scale())
	be.Mul(sines, sines, delta.Slice(0, delta.Rows, 0, n))
	be.Mul(slope, slope, delta.Slice(0, delta.Rows, n, 2*n))
	be.Sub(slope, slope, sines)
}

// blockRows returns the number of rows that are computed together in scratch memory.
func (m *Map) blockRows() int {
	return min(max((1<<20)/(2*m.spectrum.frequencies()), 16), 4096)
}
