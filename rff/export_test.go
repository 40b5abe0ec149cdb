package rff

// For tests.
var MarshalKernel, UnmarshalKernel = marshalKernel, unmarshalKernel
