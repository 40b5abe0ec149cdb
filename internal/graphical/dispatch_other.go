//go:build !amd64 || purego

package graphical

// vectors is false where there are no kernels. Then nothing calls the functions below.
const vectors = false

func (view) sumVectors(dst, table []float64) {}

func (view) scaleVectors(dst, table, by []float64) {}

func expVectors(dst, x []float64, top float64) int { return 0 }
