package main

import (
	"context"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// logistic trains a logistic regression by DP-SGD. Its quality is the accuracy on held-out rows.
type logistic struct {
	rate, clip, sampled float64
	steps               int
}

func (l logistic) run(ctx context.Context, j job) (float64, error) {
	train, test, err := j.rows()
	if err != nil {
		return 0, err
	}
	s, nominal := train.Schema(), float64(train.Len()) // the number of rows counts as public here
	cfg, err := sgd.Config{ClipNorm: l.clip, SamplingProbability: l.sampled, Steps: l.steps,
		NominalBatch: l.sampled * nominal, Optimizer: sgd.Momentum(l.rate, 0.9)}.Calibrate(j.budget)
	if err != nil {
		return 0, err
	}
	net, err := models.MLP{}.Classifier(device.CPU(), s.Dim(), s.Classes(), j.seed)
	if err != nil {
		return 0, err
	}
	trainer, err := sgd.New(cfg, net, ledger.New(j.budget))
	if err != nil {
		return 0, err
	}
	for _, err := range trainer.Steps(ctx, train) {
		if err != nil {
			return 0, err
		}
	}
	return accuracy(net, test), nil
}

// accuracy returns the fraction of rows whose class the network predicts.
func accuracy(net *models.Classifier, rows records.Data) float64 {
	var batch device.Batch
	rows.Range(0, rows.Len(), &batch)
	predicted, right := make([]int32, rows.Len()), 0
	net.PredictClass(batch, predicted)
	for i, class := range predicted {
		if class == batch.Labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(predicted))
}
