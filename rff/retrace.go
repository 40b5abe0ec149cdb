package rff

import "github.com/seed7ba64551/privgen/device"

// A RetracingEmbedding can propagate derivatives from features that it has written, without
// computing the features again. This requires that every record's features have the same norm. The
// component of a derivative along the features then contributes nothing, and the rest is the same
// for all records of a group.
type RetracingEmbedding interface {
	Embedding
	// Trace is Transform for dense records in be's memory. It is meant for many small batches, and
	// keeps a copy of the tables in the layout that is fastest for such batches.
	Trace(be device.Backend, x, features device.Matrix)
	// Retrace sets row i of dx to J(xᵢ)ᵀ·pulls[i/each], where J is the derivative of the features with
	// respect to the record. It overwrites the features. If the backend does not support this, Retrace
	// changes nothing and returns false.
	//
	// Shapes: features is rows × Dim, as written by Trace; pulls is (rows/each) × Dim; dx is rows ×
	// In. All are in be's memory.
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

// Retrace implements [RetracingEmbedding] for features that are pairs of cosine and sine.
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
