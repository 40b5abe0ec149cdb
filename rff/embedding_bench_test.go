package rff_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// BenchmarkStep measures an embedding's part of a generator's training step: the features of a
// batch and the propagation of derivatives.
func BenchmarkStep(b *testing.B) {
	for name, c := range map[string]kernelCase{
		"patches-10000": {rff.PatchesFor(10_000, 28, 28), rff.Layout{In: 784, Height: 28, Width: 28}},
	} {
		b.Run(name, func(b *testing.B) {
			e, err := c.kernel.Embedding(c.layout, 1)
			if err != nil {
				b.Fatal(err)
			}
			be := device.CPU()
			x, delta, dx := be.New(100, e.In()), be.New(100, e.Dim()), be.New(100, e.In())
			e.Transform(be, device.Batch{Rows: 100, Dense: x}, delta)
			for b.Loop() {
				e.Transform(be, device.Batch{Rows: 100, Dense: x}, delta)
				e.Backward(be, x, delta, dx)
			}
		})
	}
}
