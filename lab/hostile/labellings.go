package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// labellingSubjects returns labellings of numbers, images and tables.
func labellingSubjects(numbers, tables records.Data) (list []subject, err error) {
	images, err := labelledImages()
	if err != nil {
		return nil, err
	}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3,
		Optimizer: sgd.Momentum(2, 0.5)}
	for _, of := range []struct {
		name   string
		data   records.Data
		config compose.Labels
		system synth.Design
	}{
		{"merf of numbers, kept", numbers, compose.Labels{Margin: 0.1, Tries: 2,
			Features: rff.RBF{Dim: 6, Bandwidth: 1}}, quickMERF},
		{"merf of images, kept", images, compose.Labels{
			Contrast: compose.Contrast{Black: 0.1, White: 0.9}}, quickMERF},
		{"gan of numbers, kept", numbers, compose.Labels{Tries: 2,
			Features: rff.RBF{Dim: 6, Bandwidth: 1}}, quickGAN},
		{"aim of tables, kept", tables, compose.Labels{Tries: 2,
			Features: rff.RBF{Dim: 6, Bandwidth: 1}}, quickAIM},
	} {
		c := of.config
		c.Of, c.Share, c.Nominal, c.Train = of.system, 0.5, 8, train
		p, err := c.PlanFor(of.data.Schema(), accountant.Budget{Epsilon: 3, Delta: 1e-5})
		if err != nil {
			return nil, fmt.Errorf("labelling of %s: %w", of.name, err)
		}
		list = append(list, subject{"labelling of " + of.name, p, of.data})
	}
	return list, nil
}

// labelledImages returns eight images of two classes.
func labelledImages() (*records.Table, error) {
	flat, labels := make([]float32, 8*64), make([]int32, 8)
	for i := range flat {
		flat[i], labels[i/64] = float32(i%7)/6, int32(i/64%2)
	}
	return records.FromFlat(records.Image(8, 8).WithLabels("a", "b"), flat, labels...)
}

// Systems of few features and steps.
var (
	quickMERF = merf.Config{Kernel: rff.RBF{Dim: 12, Bandwidth: 1},
		Generator: merf.GeneratorConfig{Steps: 2, Batch: 8, Latent: 2,
			Architecture: models.MLP{Hidden: []int{4}}}}
	quickGAN = gan.Config{Latent: 2, GeneratorBatch: 6, CriticSteps: 2,
		Critic: models.MLP{Hidden: []int{4}}, Generator: models.MLP{Hidden: []int{4}},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3,
			Optimizer: sgd.Adam(1e-2)}}
	quickAIM = tables.AIM{Rounds: 3, Common: tables.Common{Bins: 4}}
)
