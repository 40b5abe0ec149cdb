package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sequence"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// sequenceSubjects returns sequences of two systems, and a sequence of three systems.
func sequenceSubjects(kind string, data records.Data) (list []subject, err error) {
	s, train := data.Schema(), sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3,
		Optimizer: sgd.Adam(1e-2)}
	adversary := func(b accountant.Budget) (synth.Plan, error) {
		return synth.PlanOf(gan.Config{Schema: s, Budget: b, Latent: 2, GeneratorBatch: 6,
			CriticSteps: 2, Train: train, WarmSteps: 2, Follows: true,
			Critic: models.MLP{Hidden: []int{4}}, Generator: models.MLP{Hidden: []int{4}}}.Plan())
	}
	mixture := func(b accountant.Budget) (synth.Plan, error) {
		return synth.PlanOf(dpgm.Config{Schema: s, Budget: b, Train: train, WarmSteps: 2,
			WarmBatch: 8, Follows: true, Model: models.VAE{Hidden: []int{4}, Latent: 2},
			Cluster: kmeans.Config{K: 2, Iterations: 2, Share: 0.3}}.Plan())
	}
	embedding, err := merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Kernel: rff.RBF{Dim: 12, Bandwidth: 1}, Generator: merf.GeneratorConfig{Steps: 2, Batch: 8,
			Latent: 2, Architecture: models.MLP{Hidden: []int{4}}}}.Plan()
	if err != nil {
		return nil, err
	}
	after := func(name string, epsilon float64, first synth.Plan,
		then func(accountant.Budget) (synth.Plan, error)) synth.Plan {
		if err != nil {
			return nil
		}
		c := sequence.Config{Budget: accountant.Budget{Epsilon: epsilon, Delta: 1e-5}, First: first,
			Records: 9}
		if c, err = c.Within(then); err != nil {
			return nil
		}
		var p *sequence.Plan
		if p, err = c.Plan(); err != nil {
			err = fmt.Errorf("%s of %s: %w", name, kind, err)
			return nil
		}
		list = append(list, subject{name + " of " + kind, p, data})
		return p
	}
	two := after("gan after merf", 2, embedding, adversary)
	after("dpgm after merf", 3, embedding, mixture)
	after("dpgm after gan after merf", 3, two, mixture)
	return list, err
}
