package rff

// For tests.
var MarshalKernel, UnmarshalKernel = marshalKernel, unmarshalKernel

// For tests.
type (
	StrokeMap     = strokeMap
	ScatteringMap = scatteringMap
)
