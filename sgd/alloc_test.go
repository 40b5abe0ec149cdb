//go:build !race

package sgd_test

import (
	"iter"
	"math"
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestStepDoesNotAllocate: once the buffers have grown to the largest batch, a step makes only
// a few small allocations, for its grant and its ledger line. Here the sampling probability is 1,
// so every batch contains all records.
func TestStepDoesNotAllocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a garbage collection empties the pools
	data := must(records.FromFlat(records.Binary(30), make([]float32, 30*100)))(t)
	for name, clip := range policies() {
		net, err := models.VAE{Hidden: []int{400}, Latent: 2}.New(device.CPU(),
			models.Visible{Dim: 30}, 1)
		if err != nil {
			t.Fatal(err)
		}
		cfg := with(clip, 1, 1<<20)
		cfg.NoiseMultiplier, cfg.MicroBatch = 1, 100
		trainer, _ := newTrainer(t, cfg, net, 1e12, sgd.WithAverage(0.9))
		next, stop := iter.Pull2(trainer.Steps(t.Context(), data))
		step := func() {
			if _, err, ok := next(); err != nil || !ok {
				t.Fatal(err)
			}
		}
		for range 5 {
			step()
		}
		a := math.Inf(1)
		for range 3 { // a goroutine that moves to another processor finds its pools empty
			a = min(a, testing.AllocsPerRun(20, step))
		}
		if a > 12 {
			t.Errorf("%s: %v allocations per step, want at most 12", name, a)
		}
		stop()
	}
}
