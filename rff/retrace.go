package rff

import "github.com/seed7ba64551/privgen/device"

// A RetracingEmbedding can go back from features that Transform has written, without computing
// them again, because every record's features have the same norm: the part of a derivative that
// points along them vanishes, and what remains is the same for all records of a group.
type RetracingEmbedding interface {
	Embedding
	// Retrace sets row i of dx to J(xᵢ)ᵀ·pulls[i/each], with J the derivative of the features by the
	// record, and uses up the features. It returns false, and changes nothing, if it has no such way
	// on this backend.
	//
	// Shapes: features is rows × Dim as Transform left them, pulls (rows/each) × Dim, dx rows × In,
	// all in be's memory.
	Retrace(be device.Backend, features, pulls device.Matrix, each int, dx device.Matrix) bool
}

// Retrace implements [RetracingEmbedding] for pairs of cosine and sine.
func (m *Map) Retrace(be device.Backend, features, pulls device.Matrix, each int,
	dx device.Matrix) bool {
	slopes, ok := be.(device.FeatureSlopes)
	if !ok || m.spectrum.phase {
		return false
	}
	slopes.CosSinSlopes(features, pulls, each)
	n := m.spectrum.frequencies()
	be.Gemm(false, true, 1, features.Slice(0, features.Rows, 0, n), m.place(be).freq, 0, dx)
	return true
}
