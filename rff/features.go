package rff

import "github.com/seed7ba64551/privgen/device"

// Features is a public map from records to rows of bounded norm. Each row depends only on its
// record. [Map] and the maps of [Strokes] and [Scattering] implement Features.
type Features interface {
	In() int
	Dim() int
	NormBound() float64
	// Transform writes the features of the batch's records into dst.
	//
	// Shapes: dst is b.Rows × Dim in be's memory.
	Transform(be device.Backend, b device.Batch, dst device.Matrix)
}

// FeatureKernel describes features for records of a layout. Every [Kernel] of this package
// implements it for any layout; [Strokes] and [Scattering] implement it for images. The same
// description, layout and seed give the same features. Errors: [*param.Error], joined.
type FeatureKernel interface {
	Features(l Layout, seed uint64) (Features, error)
}

// drawn returns the map of a kernel, which treats all coordinates in the same way.
func drawn(k Kernel, l Layout, seed uint64) (Features, error) {
	m, err := k.New(l.In, seed)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Features implements [FeatureKernel] and treats all coordinates of a record alike.
func (c RBF) Features(l Layout, seed uint64) (Features, error) { return drawn(c, l, seed) }

// Features implements [FeatureKernel] and treats all coordinates of a record alike.
func (c Scales) Features(l Layout, seed uint64) (Features, error) { return drawn(c, l, seed) }

// MarshalFeatures writes the description of one of this package's features, tagged with its name.
// Errors: an error for a kernel of another package.
func MarshalFeatures(k FeatureKernel) ([]byte, error) { return marshal(k) }

// UnmarshalFeatures reads a description that [MarshalFeatures] wrote. Errors: [ErrFormat].
func UnmarshalFeatures(data []byte) (FeatureKernel, error) { return unmarshal[FeatureKernel](data) }
