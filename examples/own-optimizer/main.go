// Command own-optimizer privately trains a classifier of the library with a user-defined optimiser.
// The learning rate warms up and then falls, and each layer has its own clip norm.
//
//	go -C examples run ./own-optimizer            a few seconds
//
// It prints the guarantee and the accuracy on other records.
package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func main() { program.Main("own-optimizer", run) }

func run(ctx context.Context, _ []string) error {
	train, err := made(20000, 1)
	if err != nil {
		return err
	}
	test, err := made(20000, 2)
	if err != nil {
		return err
	}
	l := ledger.New(accountant.Budget{Epsilon: 1, Delta: 1e-6})
	net, err := classify(ctx, l, train)
	if err != nil {
		return err
	}
	fmt.Println(l.Guarantee())
	fmt.Printf("accuracy on other records: %.3f\n", images.Accuracy(test, net.PredictClass))
	return nil
}

// lion is a user-defined optimiser with steps of constant size along the sign of a moving average
// (Chen et al. 2023). It sees only released gradients, so it costs no privacy.
type lion struct{ average []float32 }

func (lion) Name() string          { return "lion" }
func (lion) Start(n int) sgd.Mover { return lion{make([]float32, n)} }

func (l lion) Move(_ int, rate float64, params, grad []float32) {
	for i, g := range grad {
		params[i] -= float32(math.Copysign(rate, float64(0.9*l.average[i]+0.1*g)))
		l.average[i] = 0.99*l.average[i] + 0.01*g
	}
}

// classify trains a classifier with the optimiser lion. Each step, with the clip norms of both
// layers, is one event on the ledger.
func classify(ctx context.Context, ledger *ledger.Ledger,
	data records.Data) (*models.Classifier, error) {
	net, err := models.MLP{Hidden: []int{16}}.Classifier(device.CPU(), data.Schema().Dim(),
		data.Schema().Classes(), 1)
	if err != nil {
		return nil, err
	}
	cfg, err := sgd.Config{SamplingProbability: 0.05, Steps: 300, NominalBatch: 1000,
		Clip: sgd.Groups{List: []sgd.Group{
			{Blocks: []int{0, 1}, ClipNorm: 0.3}, {Blocks: []int{2, 3}, ClipNorm: 1}}},
		Optimizer: sgd.Own(0.01, lion{}).Scheduled(sgd.Schedule{Decay: sgd.Cosine, Warmup: 20}),
	}.Calibrate(ledger.Budget())
	if err != nil {
		return nil, err
	}
	trainer, err := sgd.New(cfg, net, ledger, sgd.WithMean(200))
	if err != nil {
		return nil, err
	}
	for _, err := range trainer.Steps(ctx, data) {
		if err != nil {
			return nil, err
		}
	}
	trainer.UseAverage()
	return net, nil
}

// made draws vectors whose class is the sign of the last coordinate minus the sum of the others.
func made(n int, seed uint64) (*records.Table, error) {
	const inputs = 4
	rng := rand.New(rand.NewPCG(2, seed))
	flat, labels := make([]float32, 0, n*inputs), make([]int32, n)
	for i := range labels {
		y := float32(0)
		for range inputs {
			x := float32(2*rng.Float64() - 1)
			flat, y = append(flat, x), x-y
		}
		if y > 0 {
			labels[i] = 1
		}
	}
	schema := records.Interval(inputs, -1, 1).WithLabels("negative", "positive")
	return records.FromFlat(schema, flat, labels...)
}
