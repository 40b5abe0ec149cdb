package tutorials_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// bars returns 8×8 images with one bright line, and whether it is upright.
func bars(rng *rand.Rand, n int) (images []float32, labels []int32) {
	images, labels = make([]float32, 64*n), make([]int32, n)
	for i := range labels {
		labels[i] = int32(rng.IntN(2))
		at, step := rng.IntN(8), 1
		first := images[64*i+8*at:]
		if labels[i] == 1 {
			first, step = images[64*i+at:], 8
		}
		for k := range 8 {
			first[step*k] = 1
		}
	}
	return images, labels
}

func Example_network() {
	net, err := models.Build(device.CPU(), 64, 1, func(x models.Value) models.Loss {
		h := x.Shape(8, 8, 1).Conv(models.Convolution{Maps: 4, Size: 3, Pad: 1}).Apply(device.ReLU)
		h = h.Conv(models.Convolution{Maps: 8, Size: 4, Stride: 4}).Apply(device.ReLU)
		return h.Shape(1, 1, 32).Dense(2).CrossEntropy()
	})
	check(err)

	rng := rand.New(rand.NewPCG(1, 1))
	images, labels := bars(rng, 4000)
	schema := records.Interval(64, 0, 1).WithLabels("flat", "upright")
	data, err := records.FromFlat(schema, images, labels...)
	check(err)
	budget := accountant.Budget{Epsilon: 2, Delta: 1e-6}
	cfg, err := sgd.Config{ClipNorm: 1, SamplingProbability: 0.05, Steps: 100,
		NominalBatch: 200, Optimizer: sgd.Adam(0.01)}.Calibrate(budget)
	check(err)
	trainer, err := sgd.New(cfg, net, ledger.New(budget))
	check(err)
	for _, err := range trainer.Steps(context.Background(), data) {
		check(err)
	}

	images, labels = bars(rng, 500)
	classes, right := make([]int32, 500), 0
	net.PredictClass(device.Batch{Rows: 500, Dense: device.HostMatrix(500, 64, images)}, classes)
	for i, c := range classes {
		if c == labels[i] {
			right++
		}
	}
	fmt.Println("more than 9 in 10 right:", right > 450)
	// Output: more than 9 in 10 right: true
}
