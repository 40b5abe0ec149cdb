package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/labelling"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/records/retouch"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// labellingSubjects returns labellings of numbers, images and tables by both rules.
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
		config labelling.Config
		system func(records.Schema, accountant.Budget) (synth.Plan, error)
	}{
		{"merf of numbers, kept", numbers, labelling.Config{Margin: 0.1, Tries: 2,
			Features: rff.RBF{Dim: 6, Bandwidth: 1}}, quickMERF},
		{"merf of images, relabelled", images, labelling.Config{Rule: labelling.Relabel,
			Contrast: retouch.Contrast{Black: 0.1, White: 0.9}}, quickMERF},
		{"gan of numbers, relabelled", numbers, labelling.Config{Rule: labelling.Relabel, Tries: 2,
			Features: rff.RBF{Dim: 6, Bandwidth: 1}}, quickGAN},
		{"aim of tables, kept", tables, labelling.Config{Tries: 2,
			Features: rff.RBF{Dim: 6, Bandwidth: 1}}, quickAIM},
	} {
		c := of.config
		c.Budget, c.Share, c.Nominal = accountant.Budget{Epsilon: 3, Delta: 1e-5}, 0.5, 8
		c.Train = train
		c, err := c.Within(func(b accountant.Budget) (synth.Plan, error) {
			return of.system(of.data.Schema(), b)
		})
		if err != nil {
			return nil, fmt.Errorf("labelling of %s: %w", of.name, err)
		}
		p, err := c.Plan()
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

func quickMERF(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	return synth.PlanOf(merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 12, Bandwidth: 1},
		Generator: merf.GeneratorConfig{Steps: 2, Batch: 8, Latent: 2,
			Architecture: models.MLP{Hidden: []int{4}}}}.Plan())
}

func quickGAN(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	return synth.PlanOf(gan.Config{Schema: s, Budget: b, Latent: 2, GeneratorBatch: 6,
		CriticSteps: 2, Critic: models.MLP{Hidden: []int{4}}, Generator: models.MLP{Hidden: []int{4}},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3,
			Optimizer: sgd.Adam(1e-2)}}.Plan())
}

func quickAIM(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	return synth.PlanOf(tables.AIM{Rounds: 3, Common: tables.Common{Schema: s, Budget: b,
		Bins: 4}}.Plan())
}
