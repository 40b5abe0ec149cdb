//go:build !race

package rff_test

import (
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// The race detector makes sync.Pool forget on purpose, so these counts hold without it only.

func TestBatchesAllocateNoMatrices(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	be := device.CPUWith(1)
	e, err := rff.Pairs{}.Embedding(batchLayout, 0)
	if err != nil {
		t.Fatal(err)
	}
	x, pull, dx := be.New(16, e.In()), be.New(1, e.Dim()), be.New(16, e.In())
	b := e.(rff.BatchEmbedding)
	step := func() { b.Sum(be, x, pull); b.PullBack(be, x, pull, 0.5, dx) }
	step()
	if a := testing.AllocsPerRun(50, step); a > 4 { // closures of the row loops
		t.Errorf("%v allocations a call", a)
	}
}

// TestBackwardAllocatesNothing once scratch memory is there. (Embeddings computed on the host by
// several goroutines pay for starting them.)
func TestBackwardAllocatesNothing(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	be := device.CPU()
	for _, name := range []string{"rbf", "phase", "sum", "hermite"} {
		e := newEmbedding(t, embeddings()[name])
		x, delta, dx := be.New(4, e.In()), be.New(4, e.Dim()), be.New(4, e.In())
		b := device.Batch{Rows: 4, Dense: x}
		if n := testing.AllocsPerRun(20, func() {
			e.Transform(be, b, delta)
			e.Backward(be, x, delta, dx)
		}); n > 4 {
			t.Errorf("%s: %v allocations a step", name, n)
		}
	}
}
