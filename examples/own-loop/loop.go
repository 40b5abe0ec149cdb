package main

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// lion is a user-defined optimiser: steps of one size along the sign of a moving average (Chen et
// al. 2023). It sees released gradients only, so nothing about it has to be private.
type lion struct{ average []float32 }

func (lion) Name() string          { return "lion" }
func (lion) Start(n int) sgd.Mover { return lion{make([]float32, n)} }

func (l lion) Move(_ int, rate float64, params, grad []float32) {
	for i, g := range grad {
		params[i] -= float32(math.Copysign(rate, float64(0.9*l.average[i]+0.1*g)))
		l.average[i] = 0.99*l.average[i] + 0.01*g
	}
}

// classify trains a classifier of the library with that optimiser, a rate that warms up and falls,
// and a clip norm for every layer: all of a step is one event on the ledger.
func classify(ctx context.Context, ledger *accountant.Ledger,
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
