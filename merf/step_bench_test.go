//go:build unix

package merf

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// BenchmarkImageStep measures a training step of the default generator of 28×28 images with ten
// classes, and steps that compare all features. The flag -cpu sets the number of cores.
func BenchmarkImageStep(b *testing.B) {
	for _, c := range []struct{ features, batch int }{{4000, 100}, {10_000, 100}, {10_000, 500}} {
		b.Run(fmt.Sprintf("features=%d/batch=%d", c.features, c.batch), func(b *testing.B) {
			timeSteps(b, imageTraining(b, c.features, c.features, c.batch))
			b.ReportMetric(imageStepFlops(c.features, c.batch)*float64(b.N)/b.Elapsed().Seconds()/1e9,
				"GFLOP/s")
		})
	}
	b.Run("default", func(b *testing.B) {
		timeSteps(b, imageTraining(b, imageFeatures, imageSubset, 200))
	})
}

// timeSteps measures steps after the first.
func timeSteps(b *testing.B, t *training) {
	t.step(0)
	start := processorSeconds(b)
	b.ResetTimer()
	for i := range b.N { // b.Loop would run before -cpu sets the number of cores
		t.step(1 + i)
	}
	b.ReportMetric(1e3*(processorSeconds(b)-start)/float64(b.N), "cpu-ms")
}

// processorSeconds returns the processor time that the process has used on all cores.
func processorSeconds(b *testing.B) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// imageTraining returns a training against means of zero. The time of a step does not depend on the
// means.
func imageTraining(b *testing.B, dim, perStep, batch int) *training {
	s := records.Image(28, 28).WithLabels("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
	features, err := rff.PatchesFor(dim, 28, 28).Embedding(layout(s), 1)
	if err != nil {
		b.Fatal(err)
	}
	e := &Embedding{config: Config{Schema: s}, features: features, noise: noise{sum: 1, count: 1},
		sums: make([]float64, 10*dim), counts: make([]float64, 10)}
	g := GeneratorConfig{Architecture: models.ConvDecoder{Height: 28, Width: 28, Channels: 1,
		Hidden: []int{200}, Maps: []int{16, 8}, Size: 5, Activation: models.ReLU,
		Output: device.Sigmoid, BatchNorm: true}, Latent: 10, Batch: batch,
		FeaturesPerStep: perStep, LR: 0.01}.withDefaults()
	t, err := newTraining(e, divide(e, g), g, device.CPUWith(0))
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// imageStepFlops counts the multiplications and additions of a step's matrix products. The features
// and their derivative need one product each. Each layer of the generator needs one product forward
// and one for the gradient of its weights. Each layer but the first needs one for the derivative of
// its input.
func imageStepFlops(features, batch int) float64 {
	products := 2 * 784 * features / 2
	products += 2*20*200 + 3*200*784
	for _, side := range []struct{ pixels, in, out int }{{14 * 14, 16, 8}, {28 * 28, 8, 1}} {
		products += 3 * side.pixels * side.in * side.out * 25
	}
	return 2 * float64(products) * float64(batch)
}
