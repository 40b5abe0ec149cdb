//go:build !race

package merf

import (
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/rff"
)

// The race detector makes sync.Pool drop items at random, so this file is not built with it.

// TestStepsAllocateNoMatrices checks that training steps after the first allocate no matrices.
func TestStepsAllocateNoMatrices(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	g := GeneratorConfig{Architecture: models.MLP{Hidden: []int{8}, BatchNorm: true}, Latent: 3,
		Batch: 16}.withDefaults()
	for _, k := range []rff.EmbeddingKernel{rff.RBF{Dim: 20, Bandwidth: 0.5}, pairs} {
		tr, err := newTraining(internalEmbedding(t, k), nil, g, device.CPUWith(1))
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		step := func() { tr.step(i); i++ }
		step()
		// A step with Pairs allocates closures for its loops over rows, but no matrices.
		if a := testing.AllocsPerRun(100, step); a > 8 {
			t.Errorf("got %v allocations in a step, want at most 8", a)
		}
	}
}
