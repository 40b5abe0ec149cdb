//go:build !race

package rff_test

import (
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// The race detector makes sync.Pool drop items at random, so this file is not built with it.

func TestBatchesAllocateNoMatrices(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	be := device.CPUWith(1)
	e := must(rff.Pairs{}.Embedding(batchLayout, 0))(t)
	x, pull, dx := be.New(16, e.In()), be.New(1, e.Dim()), be.New(16, e.In())
	b := e.(rff.BatchEmbedding)
	step := func() { b.Sum(be, x, pull); b.PullBack(be, x, pull, 0.5, dx) }
	step()
	if a := testing.AllocsPerRun(50, step); a > 4 { // closures of the row loops
		t.Errorf("got %v allocations in a call, want at most 4", a)
	}
}

// TestBackwardAllocatesNothing checks that calls after the first allocate no matrices. Embeddings
// that several goroutines compute on the host allocate a little to start the goroutines.
func TestBackwardAllocatesNothing(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	be := device.CPU()
	for _, name := range []string{"rbf", "phase", "sum", "pairs"} {
		e := newEmbedding(t, embeddings()[name])
		x, delta, dx := be.New(4, e.In()), be.New(4, e.Dim()), be.New(4, e.In())
		b := device.Batch{Rows: 4, Dense: x}
		if n := testing.AllocsPerRun(20, func() {
			e.Transform(be, b, delta)
			e.Backward(be, x, delta, dx)
		}); n > 4 {
			t.Errorf("%s: got %v allocations in a step, want at most 4", name, n)
		}
	}
}
