package rff

import "github.com/seed7ba64551/privgen/device"

// A RetracingEmbedding can propagate derivatives from features that it has written, without
// computing the features again. This requires that every record's features have the same norm. The
// component of a derivative along the features then contributes nothing, and the rest is the same
// for all records of a group.
//
// The features are computed in stretches. The features of a batch in one stretch stay in a core's
// cache until their derivative is needed.
type RetracingEmbedding interface {
	Embedding
	// Stretches returns stretches that together have every feature once. It returns nil if the
	// features do not have a constant norm, or if the backend does not support Retrace.
	Stretches(be device.Backend) []Stretch
	// Trace is Transform for one stretch of the features of dense records in be's memory. It is meant
	// for many small batches, and keeps a copy of the tables in the layout that is fastest for such
	// batches.
	//
	// Shapes: features is rows × s.Dim().
	Trace(be device.Backend, s Stretch, x, features device.Matrix)
	// Retrace sets row i of dx to J(xᵢ)ᵀ·pulls[i/each] + β·dx, where J is the derivative of the
	// stretch's features with respect to the record. It overwrites the features.
	//
	// Shapes: features is rows × s.Dim(), as written by Trace; pulls is (rows/each) × s.Dim(); dx is
	// rows × In. All are in be's memory.
	Retrace(be device.Backend, s Stretch, features, pulls device.Matrix, each int, beta float32,
		dx device.Matrix)
}

// A Stretch is a range of consecutive frequencies of an embedding. Its features are the cosines of
// these frequencies, followed by the sines.
type Stretch struct{ lo, hi, count int }

// Dim returns the number of features of the stretch.
func (s Stretch) Dim() int { return 2 * (s.hi - s.lo) }

// Select appends to dst the stretch's features. It takes them from row, which has all features of
// the embedding.
func (s Stretch) Select(dst, row []float32) []float32 {
	dst = append(dst, row[s.lo:s.hi]...)
	return append(dst, row[s.count+s.lo:s.count+s.hi]...)
}

// stretchFrequencies is the largest number of frequencies in a stretch. For a batch of some hundred
// records, the features of a stretch fit into a core's second-level cache.
const stretchFrequencies = 640

// Stretches implements [RetracingEmbedding] for features that are pairs of cosine and sine.
func (m *Map) Stretches(be device.Backend) []Stretch {
	if _, ok := be.(device.FeatureSlopes); !ok || m.spectrum.phase {
		return nil
	}
	var stretches []Stretch
	count := m.spectrum.frequencies()
	for lo := 0; lo < count; lo += stretchFrequencies {
		stretches = append(stretches, Stretch{lo, min(lo+stretchFrequencies, count), count})
	}
	return stretches
}

// Trace implements [RetracingEmbedding].
func (m *Map) Trace(be device.Backend, s Stretch, x, features device.Matrix) {
	p := m.place(be)
	projection := features.Slice(0, x.Rows, 0, s.hi-s.lo)
	if t := p.packed(s); t.forward != nil {
		be.(device.Packer).GemmPacked(x, t.forward, 0, projection)
	} else {
		be.Gemm(false, false, 1, x, p.columns(s), 0, projection)
	}
	be.CosSin(features, projection, m.scale())
}

// Retrace implements [RetracingEmbedding].
func (m *Map) Retrace(be device.Backend, s Stretch, features, pulls device.Matrix, each int,
	beta float32, dx device.Matrix) {
	be.(device.FeatureSlopes).CosSinSlopes(features, pulls, each)
	p := m.place(be)
	slope := features.Slice(0, features.Rows, 0, s.hi-s.lo)
	if t := p.packed(s); t.backward != nil {
		be.(device.Packer).GemmPacked(slope, t.backward, beta, dx)
	} else {
		be.Gemm(false, true, 1, slope, p.columns(s), beta, dx)
	}
}
