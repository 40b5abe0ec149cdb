package labelling_test

import (
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/labelling"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

var kills = flag.Int("kills", 3, "how many processes to kill")

// systems are the systems whose records the classifier chooses.
var systems = synth.Systems{merf.System(), gan.System()}

// planner makes a plan for a budget.
type planner func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error)

// embedding plans a release of mean features that takes milliseconds.
func embedding(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
	c := merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 12, Bandwidth: 1},
		Generator: merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{6}, BatchNorm: true},
			Latent: 3, Steps: 4, Batch: 12}}
	if b.Relation == accountant.ReplaceOne {
		c.Nominal = n
	}
	return synth.PlanOf(c.Plan())
}

// adversary plans a GAN of a few steps.
func adversary(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
	return synth.PlanOf(gan.Config{Schema: s, Budget: b,
		Critic:    models.MLP{Hidden: []int{5}, Activation: models.LeakyReLU},
		Generator: models.MLP{Hidden: []int{6}, BatchNorm: true}, Latent: 3,
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4,
			Optimizer: sgd.AdamWith(1e-2, 0.5, 0.9, 1e-8)},
		CriticSteps: 2, GeneratorBatch: 6, Seed: 5}.Plan())
}

// configOf returns a labelling of few features, by a classifier of few steps.
func configOf(b accountant.Budget, n int) labelling.Config {
	return labelling.Config{Budget: b, Features: rff.RBF{Dim: 6, Bandwidth: 1}, Share: 0.5,
		Nominal: n, Tries: 3, Seed: 7, Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5,
			Steps: 4, Optimizer: sgd.Momentum(2, 0.5)}}
}

func planOf(s records.Schema, b accountant.Budget, n int, of planner) (*labelling.Plan, error) {
	return planBy(labelling.Keep, s, b, n, of)
}

func planBy(r labelling.Rule, s records.Schema, b accountant.Budget, n int, of planner) (
	*labelling.Plan, error) {
	c := configOf(b, n)
	c.Rule = r
	c, err := c.Within(func(b accountant.Budget) (synth.Plan, error) {
		return of(s, b, n)
	})
	if err != nil {
		return nil, err
	}
	return c.Plan()
}

// subject returns a labelling of one system's records.
func subject(r labelling.Rule, of planner) synthtest.Subject {
	return synthtest.Subject{System: labelling.System(systems), Interrupts: 5,
		Plan: func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
			return synth.PlanOf(planBy(r, s, b, n, of))
		}}
}

func TestContract(t *testing.T) { synthtest.Run(t, subject(labelling.Keep, embedding)) }

// TestContractOfGANs runs the contract suite with the other rule and another system.
func TestContractOfGANs(t *testing.T) { synthtest.Run(t, subject(labelling.Relabel, adversary)) }

// TestKilled kills processes at random moments, within the classifier's training and after it.
func TestKilled(t *testing.T) { synthtest.Kill(t, subject(labelling.Keep, embedding), *kills) }
