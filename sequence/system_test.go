package sequence_test

import (
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sequence"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

var kills = flag.Int("kills", 3, "number of processes to kill")

// systems lists the systems that the test's sequences consist of.
var systems = synth.Systems{merf.System(), mix.System(), gan.System(), dpgm.System()}

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

// adversary plans a GAN that warms up on the records of an earlier system and clips to their
// norms.
func adversary(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
	return synth.PlanOf(gan.Config{Schema: s, Budget: b,
		Critic:    models.MLP{Hidden: []int{5}, Activation: models.LeakyReLU},
		Generator: models.MLP{Hidden: []int{6}, BatchNorm: true}, Latent: 3,
		Train: sgd.Config{SamplingProbability: 1, Steps: 4,
			Optimizer: sgd.AdamWith(1e-2, 0.5, 0.9, 1e-8)},
		Clipping:    gan.Clipping{Groups: gan.PerBlock, Adaptive: true, Batch: 8},
		CriticSteps: 2, GeneratorBatch: 6, WarmSteps: 2, Follows: true, Seed: 5}.Plan())
}

// mixture plans two networks that are first trained on the records of an earlier system.
func mixture(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
	return synth.PlanOf(dpgm.Config{Schema: s, Budget: b, Seed: 5,
		Cluster: kmeans.Config{K: 2, Iterations: 2, Share: 0.3},
		Model:   models.VAE{Hidden: []int{4}, Latent: 2},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 1, Steps: 3,
			Optimizer: sgd.Adam(1e-2)},
		WarmSteps: 3, WarmBatch: 8, Follows: true}.Plan())
}

// subject returns the sequence of two systems as a subject of the contract tests.
func subject(first, then planner) synthtest.Subject {
	return synthtest.Subject{System: sequence.System(systems), Interrupts: 5,
		Plan: func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
			p, err := planOf(s, b, n, first, then)
			if err != nil {
				return nil, err
			}
			return p, nil
		}}
}

func planOf(s records.Schema, b accountant.Budget, n int, first, then planner) (*sequence.Plan,
	error) {
	half := b
	half.Epsilon *= 0.5
	p, err := first(s, half, n)
	if err != nil {
		return nil, err
	}
	c, err := sequence.Config{Budget: b, First: p, Records: 30, Seed: 3}.Within(
		func(b accountant.Budget) (synth.Plan, error) { return then(s, b, n) })
	if err != nil {
		return nil, err
	}
	return c.Plan()
}

func TestContract(t *testing.T) { synthtest.Run(t, subject(embedding, adversary)) }

func TestContractOfMixtures(t *testing.T) { synthtest.Run(t, subject(embedding, mixture)) }

// TestKilled kills processes at random moments, within either system and between them.
func TestKilled(t *testing.T) { synthtest.Kill(t, subject(embedding, adversary), *kills) }
