package pool_test

import (
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/pool"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

var kills = flag.Int("kills", 3, "how many processes to kill")

// systems are the systems of the pools.
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

func planOf(s records.Schema, b accountant.Budget, n int, shares []float64, of ...planner) (
	*pool.Plan, error) {
	var plans []func(accountant.Budget) (synth.Plan, error)
	for _, plan := range of {
		plans = append(plans, func(b accountant.Budget) (synth.Plan, error) { return plan(s, b, n) })
	}
	c, err := pool.Config{Budget: b, Shares: shares}.Within(plans...)
	if err != nil {
		return nil, err
	}
	return c.Plan()
}

func subject(of ...planner) synthtest.Subject {
	return synthtest.Subject{System: pool.System(systems), Interrupts: 5,
		Plan: func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
			return synth.PlanOf(planOf(s, b, n, nil, of...))
		}}
}

func TestContract(t *testing.T) { synthtest.Run(t, subject(embedding, adversary)) }

// TestContractOfThree runs the contract suite with two plans of one system and a third one.
func TestContractOfThree(t *testing.T) {
	synthtest.Run(t, subject(adversary, embedding, embedding))
}

// TestKilled kills processes at random moments, within each system and between them.
func TestKilled(t *testing.T) { synthtest.Kill(t, subject(embedding, adversary), *kills) }
