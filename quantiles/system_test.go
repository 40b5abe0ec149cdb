package quantiles_test

import (
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/quantiles"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

var kills = flag.Int("kills", 3, "how many processes to kill")

// systems are the systems that are fitted to ranks.
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

func planOf(s records.Schema, b accountant.Budget, n int, of planner) (*quantiles.Plan, error) {
	c, err := quantiles.Config{Schema: s, Budget: b, Cells: 12, Seed: 3}.Within(
		func(s records.Schema, b accountant.Budget) (synth.Plan, error) { return of(s, b, n) })
	if err != nil {
		return nil, err
	}
	return c.Plan()
}

func subject(of planner) synthtest.Subject {
	return synthtest.Subject{System: quantiles.System(systems), Interrupts: 5,
		Plan: func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
			return synth.PlanOf(planOf(s, b, n, of))
		}}
}

func TestContract(t *testing.T) { synthtest.Run(t, subject(embedding)) }

// TestContractOfGANs runs the contract suite with another system.
func TestContractOfGANs(t *testing.T) { synthtest.Run(t, subject(adversary)) }

// TestKilled kills processes at random moments, within the release of counts and after it.
func TestKilled(t *testing.T) { synthtest.Kill(t, subject(embedding), *kills) }
