//go:build !race

package merf

import (
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/rff"
)

// The race detector makes sync.Pool forget on purpose, so these counts hold without it only.

// TestStepsAllocateNoMatrices once they are warm.
func TestStepsAllocateNoMatrices(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties the pools
	g := GeneratorConfig{Architecture: models.MLP{Hidden: []int{8}, BatchNorm: true}, Latent: 3,
		Batch: 16}.withDefaults()
	for _, k := range []rff.EmbeddingKernel{rff.RBF{Dim: 20, Bandwidth: 0.5}, pairs} {
		tr, err := newTraining(internalEmbedding(t, k), g, device.CPUWith(1))
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		step := func() { tr.step(i); i++ }
		step()
		// Pairs allocate closures of their row loops, and no matrices.
		if a := testing.AllocsPerRun(100, step); a > 8 {
			t.Errorf("%v allocations a step", a)
		}
	}
}
