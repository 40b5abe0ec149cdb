package rff

import "github.com/seed7ba64551/privgen/device"

// A RetracingEmbedding can propagate derivatives from features that it has written, without
// computing the features again. This is possible because every record's features have the same
// norm: the part of a derivative along them vanishes, and the rest is the same for all records of a
// group.
type RetracingEmbedding interface {
	Embedding
	// Trace is Transform for many small batches of dense records in be's memory. It keeps a copy of
	// the tables in the layout that is fastest for them.
	Trace(be device.Backend, x, features device.Matrix)
	// Retrace sets row i of dx to J(xᵢ)ᵀ·pulls[i/each], with J the derivative of the features by the
	// record, and overwrites the features. It returns false, and changes nothing, if the backend does
	// not support this.
	//
	// Shapes: features is rows × Dim as Trace left them, pulls (rows/each) × Dim, dx rows × In, all in
	// be's memory.
	Retrace(be device.Backend, features, pulls device.Matrix, each int, dx device.Matrix) bool
}

// Trace implements [RetracingEmbedding].
func (m *Map) Trace(be device.Backend, x, features device.Matrix) {
	p := m.place(be)
	table, _ := p.packed()
	if table == nil || m.spectrum.phase {
		m.Transform(be, device.Batch{Rows: x.Rows, Dense: x}, features)
		return
	}
	projection := features.Slice(0, x.Rows, 0, m.spectrum.frequencies())
	be.(device.Packer).GemmPacked(x, table, projection)
	be.CosSin(features, projection, m.scale())
}

// Retrace implements [RetracingEmbedding] for pairs of cosine and sine.
func (m *Map) Retrace(be device.Backend, features, pulls device.Matrix, each int,
	dx device.Matrix) bool {
	slopes, ok := be.(device.FeatureSlopes)
	if !ok || m.spectrum.phase {
		return false
	}
	slopes.CosSinSlopes(features, pulls, each)
	p := m.place(be)
	slope := features.Slice(0, features.Rows, 0, m.spectrum.frequencies())
	if _, table := p.packed(); table != nil {
		be.(device.Packer).GemmPacked(slope, table, dx)
		return true
	}
	be.Gemm(false, true, 1, slope, p.freq, 0, dx)
	return true
}
