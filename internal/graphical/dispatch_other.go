//go:build !amd64 || purego

package graphical

const vectors = false

func (view) sumVectors(dst, table []float64) {}

func (view) scaleVectors(dst, table, by []float64) {}
