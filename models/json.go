package models

import (
	"errors"
	"math"
)

// ErrFormat is returned for bytes that do not describe an architecture.
var ErrFormat = errors.New("models: malformed architecture")

// UnmarshalDensity reads an architecture that [MarshalArchitecture] wrote. If others contains an
// architecture of the same name, that value is returned unchanged.
//
// Errors: ErrFormat for malformed JSON and unknown names; the errors of Validate for an invalid
// description.
func UnmarshalDensity(data []byte, others ...DensityArchitecture) (DensityArchitecture, error) {
	return unmarshalTagged[DensityArchitecture](data, others, VAE{}, RBM{})
}

// Size returns the number of parameters and the number of bytes of public state, without building a
// network. A reader can then compare the sizes stated in a file with the length of the file before
// it allocates memory. Both saturate at math.MaxInt64. A user-defined architecture may have the
// same method.
func (a VAE) Size(v Visible) (params, state int64) {
	g, _, _ := a.sketch(v)
	return g.size(), 0
}

// Size returns the number of weights and biases. For the state it returns one byte for each unit of
// each chain, an upper bound up to the 8 bytes of the step counter.
func (a RBM) Size(v Visible) (params, state int64) {
	dim, hidden := float64(v.Dim), float64(a.Hidden)
	return saturated(dim*hidden + dim + hidden), saturated(float64(a.Chains) * (dim + hidden))
}

// saturated returns a size, which is exact up to 2⁵³.
func saturated(size float64) int64 {
	if size >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(size)
}
