package rff

import "github.com/seed7ba64551/privgen/device"

// A Divisible embedding can be cut into parts, for training steps that compare some features only.
// Every record's features have the same norm, in each part too.
type Divisible interface {
	Embedding
	// Divide cuts the features into n parts of nearly equal size, each of which sees all the length
	// scales and windows that the whole has. It returns nil if the map cannot be cut into so many.
	Divide(n int) []FeaturePart
}

// A FeaturePart is some of the features of an embedding.
type FeaturePart interface {
	// Dim returns the number of features.
	Dim() int
	// Select appends the part's columns of a row of all features.
	Select(dst, row []float32) []float32
	// Transform writes the features of the rows of x.
	//
	// Shapes: x is rows × In and dst rows × Dim, both in be's memory.
	Transform(be device.Backend, x, dst device.Matrix)
	// Backward sets row i of dx to J(xᵢ)ᵀ·pull, with J the derivative of the part's features by the
	// record. Features are what Transform wrote of the records, and are overwritten. Each row of
	// pulls serves as many records in succession.
	//
	// Shapes: features is rows × Dim, pulls groups × Dim, dx rows × In; groups divides rows.
	Backward(be device.Backend, features, pulls, dx device.Matrix)
}

// Divide implements [Divisible]: a part is a run of frequencies, whose features do not depend on
// those of other frequencies. Maps with phases are not cut.
func (m *Map) Divide(n int) []FeaturePart {
	count := m.spectrum.frequencies()
	if m.spectrum.phase || n < 1 || n > count {
		return nil
	}
	parts, scratch := make([]FeaturePart, n), new(rowPool)
	for i := range parts {
		parts[i] = &mapPart{m: m, lo: i * count / n, hi: (i + 1) * count / n, scratch: scratch}
	}
	return parts
}

// mapPart is the cosines and sines of frequencies lo to hi of a map.
type mapPart struct {
	m       *Map
	lo, hi  int
	scratch *rowPool // of all parts
}

// Dim returns the number of features.
func (p *mapPart) Dim() int { return 2 * (p.hi - p.lo) }

// Select implements [FeaturePart]: cosines come first, then sines.
func (p *mapPart) Select(dst, row []float32) []float32 {
	n := p.m.spectrum.frequencies()
	dst = append(dst, row[p.lo:p.hi]...)
	return append(dst, row[n+p.lo:n+p.hi]...)
}

// Transform implements [FeaturePart].
func (p *mapPart) Transform(be device.Backend, x, dst device.Matrix) {
	projection := dst.Slice(0, x.Rows, 0, p.hi-p.lo)
	be.Gemm(false, false, 1, x, p.frequencies(be), 0, projection)
	be.CosSin(dst, projection, p.m.scale())
}

// Backward implements [FeaturePart] without a second projection: the derivative of a cosine is the
// sine with the other sign, that of a sine the cosine.
func (p *mapPart) Backward(be device.Backend, features, pulls, dx device.Matrix) {
	rows, n := features.Rows, p.hi-p.lo
	each := rows / pulls.Rows
	spread := p.scratch.take(be, rows, 2*n)
	defer p.scratch.give(be, spread)
	be.Fill(spread, 0)
	for i := range pulls.Rows {
		be.BiasApply(device.Identity, spread.RowRange(i*each, (i+1)*each), pulls.RowRange(i, i+1))
	}
	cosines, sines := features.Slice(0, rows, 0, n), features.Slice(0, rows, n, 2*n)
	be.Mul(sines, sines, spread.Slice(0, rows, 0, n))
	be.Mul(cosines, cosines, spread.Slice(0, rows, n, 2*n))
	be.Sub(cosines, cosines, sines)
	be.Gemm(false, true, 1, cosines, p.frequencies(be), 0, dx)
}

func (p *mapPart) frequencies(be device.Backend) device.Matrix {
	return p.m.place(be).freq.Slice(0, p.m.in, p.lo, p.hi)
}
