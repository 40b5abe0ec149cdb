package rff

// For tests.
var MarshalKernel, UnmarshalKernel = marshal, unmarshal[Kernel]

// For tests.
type (
	StrokeMap     = strokeMap
	ScatteringMap = scatteringMap
)
