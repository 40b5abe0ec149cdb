package sgd_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// keeps is a backend that is not a device.Sharing.
type keeps struct{ device.FixedSummer }

// fitted returns the parameters after a few seeded steps on all of n rows.
func fitted(t *testing.T, be device.Backend, n int) []float32 {
	t.Helper()
	flat := make([]float32, n*30)
	for i := range flat {
		flat[i] = float32(math.Abs(math.Sin(float64(i * i))))
	}
	data := must(records.FromFlat(records.Interval(30, 0, 1), flat))(t)
	net := must(models.VAE{Hidden: []int{300}, Latent: 2}.New(be, models.Visible{Dim: 30}, 1))(t)
	cfg := with(nil, 1, 3)
	cfg.NoiseMultiplier, cfg.MicroBatch = 1, 70
	trainer, _ := newTrainer(t, cfg, net, 1e12, sgd.WithBackend(be))
	tap := &recorder{seed: 4}
	for _, err := range trainer.Steps(tap.context(t.Context()), data) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return net.Params().Flat.Data
}

// TestSharingChangesNothing: reading, noise and optimiser give the same bits on several cores and
// on one core, also at the edges of parts and of micro-batches.
func TestSharingChangesNothing(t *testing.T) {
	for _, n := range []int{1, 15, 16, 17, 70, 71, 100} {
		one, ok := device.FixedSums(device.CPUWith(1))
		if !ok {
			t.Fatal("the CPU has no sums in fixed point")
		}
		want := fitted(t, keeps{one}, n)
		for workers := 1; workers <= 3; workers++ {
			got := fitted(t, device.CPUWith(workers), n)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%d rows, %d workers: parameter %d is %v, want %v", n, workers, i, got[i],
						want[i])
				}
			}
		}
	}
}

// interrupted cancels a context when the second micro-batch of a step is read.
type interrupted struct {
	*records.Table
	cancel context.CancelFunc
	reads  *int
}

func (d interrupted) Gather(rows []int32, b *device.Batch) {
	if *d.reads++; *d.reads == 2 {
		d.cancel()
	}
	d.Table.Gather(rows, b)
}

// TestCancelledStepLeavesNothing: the sum of a cancelled step is not part of the next step's sum.
func TestCancelledStepLeavesNothing(t *testing.T) {
	const n = 6
	flat := make([]float32, 2*n)
	for i := range flat {
		flat[i] = 1
	}
	data := must(records.FromFlat(records.Interval(2, -1, 1), flat))(t)
	cfg := with(nil, 1, 3)
	cfg.NoiseMultiplier, cfg.MicroBatch, cfg.ClipNorm = 1, 2, 10
	trainer, _ := newTrainer(t, cfg, newLinear(t, device.CPU()), 1e12)
	tap, reads := &recorder{seed: 4}, 0
	ctx, cancel := context.WithCancel(tap.context(t.Context()))
	for _, err := range trainer.Steps(ctx, interrupted{data, cancel, &reads}) {
		if err == nil {
			t.Fatal("the step was not cancelled")
		}
	}
	for _, err := range trainer.Steps(t.Context(), data) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(tap.sums) != 2 {
		t.Fatalf("%d sums were released, want 2", len(tap.sums))
	}
	for _, sum := range tap.sums {
		for _, x := range sum[:2] { // the weights
			if math.Abs(math.Abs(x)-n) > 0.1 {
				t.Errorf("a sum over %[2]d gradients of −1 is %[1]v", x, n)
			}
		}
	}
}
