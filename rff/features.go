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

// orNil returns a map as an F, or nil if there is an error.
func orNil[F any](m any, err error) (f F, _ error) {
	if err != nil {
		return f, err
	}
	return m.(F), nil
}

// Features implements [FeatureKernel] and treats all coordinates of a record alike.
func (c RBF) Features(l Layout, seed uint64) (Features, error) {
	return orNil[Features](c.New(l.In, seed))
}

// Features implements [FeatureKernel] and treats all coordinates of a record alike.
func (c Scales) Features(l Layout, seed uint64) (Features, error) {
	return orNil[Features](c.New(l.In, seed))
}

// MarshalFeatures writes the description of one of this package's features, tagged with its name.
// Errors: an error for a kernel of another package.
func MarshalFeatures(k FeatureKernel) ([]byte, error) { return marshal(k) }

// UnmarshalFeatures reads a description that [MarshalFeatures] wrote. Errors: [ErrFormat].
func UnmarshalFeatures(data []byte) (FeatureKernel, error) { return unmarshal[FeatureKernel](data) }
