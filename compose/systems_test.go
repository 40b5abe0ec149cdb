package compose_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

var (
	kills = flag.Int("kills", 3, "how many processes to kill")
	long  = flag.Bool("long", false, "run the contract suite of every composition, too")
)

// systems are the systems of the parts.
var systems = synth.Systems{merf.System(), gan.System(), dpgm.System()}

// systemOf returns a system of this package.
func systemOf(name string) synth.System {
	all := compose.Systems(systems)
	return all[slices.IndexFunc(all, func(s synth.System) bool { return s.Name == name })]
}

// design is a function as a design.
type design func(records.Schema, accountant.Budget) (synth.Plan, error)

func (d design) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	return d(s, b)
}

// embedding is a release of mean features of n records that takes milliseconds.
func embedding(n int) synth.Design {
	return design(func(s records.Schema, b accountant.Budget) (synth.Plan, error) {
		c := merf.Config{Kernel: rff.RBF{Dim: 12, Bandwidth: 1},
			Generator: merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{6}, BatchNorm: true},
				Latent: 3, Steps: 4, Batch: 12}}
		if b.Relation == accountant.ReplaceOne {
			c.Nominal = n
		}
		return c.PlanFor(s, b)
	})
}

// adversary is a GAN of a few steps.
func adversary(int) synth.Design {
	return gan.Config{Critic: models.MLP{Hidden: []int{5}, Activation: models.LeakyReLU},
		Generator: models.MLP{Hidden: []int{6}, BatchNorm: true}, Latent: 3,
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4,
			Optimizer: sgd.AdamWith(1e-2, 0.5, 0.9, 1e-8)},
		CriticSteps: 2, GeneratorBatch: 6, Seed: 5}
}

// subject returns a system of this package for the contract suite.
func subject(name string, of func(s records.Schema, n int) synth.Design) synthtest.Subject {
	return synthtest.Subject{System: systemOf(name), Interrupts: 3,
		Plan: func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
			return of(s, n).PlanFor(s, b)
		}}
}

// ranksOf are ranks with few cells.
func ranksOf(of synth.Design) compose.Ranks { return compose.Ranks{Of: of, Cells: 12, Seed: 3} }

// poolOf is a pool of equal parts.
func poolOf(of ...synth.Design) compose.Pool { return compose.Pool{Of: of} }

// labelsOf are labels by a classifier of few features and steps.
func labelsOf(of synth.Design, n int) compose.Labels {
	return compose.Labels{Of: of, Features: rff.RBF{Dim: 6, Bandwidth: 1}, Share: 0.5, Nominal: n,
		Tries: 3, Seed: 7, Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4,
			Optimizer: sgd.Momentum(2, 0.5)}}
}

// changesOf is a choice between two candidates, which change images only.
func changesOf(s records.Schema, n int) compose.Changes {
	c := compose.Changes{Of: embedding(n), Candidates: make([]compose.Change, 2), Records: 30, Seed: 3}
	if s.Kind() == records.GreyImage {
		c.Candidates[1].Distortion = 1
	}
	return c
}

var (
	ranksSubject = subject("ranks", func(_ records.Schema, n int) synth.Design {
		return ranksOf(embedding(n))
	})
	poolSubject = subject("pool", func(_ records.Schema, n int) synth.Design {
		// The state of the first part cannot be made again. The others are two plans of one system.
		return poolOf(adversary(n), embedding(n), embedding(n))
	})
	labelsSubject = subject("labels", func(_ records.Schema, n int) synth.Design {
		return labelsOf(embedding(n), n)
	})
	changesSubject = subject("changes", func(s records.Schema, n int) synth.Design {
		return changesOf(s, n)
	})
	levelsSubject = subject("levels", func(s records.Schema, n int) synth.Design {
		for _, c := range s.Columns() {
			if c.Kind() == records.HashedColumn {
				return compose.Levels{Of: embedding(n)}
			}
		}
		return compose.Levels{} // refused: without open columns the plan is another system's
	})
)

func TestRanksContract(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	compose.DrawFew(t)
	synthtest.Run(t, ranksSubject)
}

func TestPoolContract(t *testing.T) {
	t.Parallel() // it waits for the disk
	synthtest.Run(t, poolSubject)
}

func TestLabelsContract(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	synthtest.Run(t, labelsSubject)
}
func TestChangesContract(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	synthtest.Run(t, changesSubject)
}

func TestLevelsContract(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	synthtest.Run(t, levelsSubject)
}

// TestContractOfRankedNetworks runs the contract suite with a system that trains privately.
func TestContractOfRankedNetworks(t *testing.T) {
	if !*long {
		t.Skip("a second suite for ranks; see -long")
	}
	compose.DrawFew(t)
	synthtest.Run(t, subject("ranks", func(records.Schema, int) synth.Design {
		return ranksOf(dpgm.Config{Cluster: kmeans.Config{K: 1},
			Model: models.VAE{Hidden: []int{4}, Latent: 2},
			Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4,
				Optimizer: sgd.Adam(1e-2)}})
	}))
}

// TestContractOfLabelsOfGANs runs the contract suite with another system.
func TestContractOfLabelsOfGANs(t *testing.T) {
	if !*long {
		t.Skip("a second suite for labels; see -long")
	}
	synthtest.Run(t, subject("labels", func(_ records.Schema, n int) synth.Design {
		return labelsOf(adversary(n), n)
	}))
}

// The tests of this group kill processes at random moments, within the composition's own stages,
// within its parts and between them.

func TestRanksKilled(t *testing.T)   { synthtest.Kill(t, ranksSubject, *kills) }
func TestPoolKilled(t *testing.T)    { synthtest.Kill(t, poolSubject, *kills) }
func TestLabelsKilled(t *testing.T)  { synthtest.Kill(t, labelsSubject, *kills) }
func TestChangesKilled(t *testing.T) { synthtest.Kill(t, changesSubject, *kills) }
func TestLevelsKilled(t *testing.T)  { synthtest.Kill(t, levelsSubject, *kills) }

// partsOf returns the plans of a composition's parts.
func partsOf(p synth.Plan) []synth.Plan { return synth.WorkOf(p).(synth.Nested).Plans() }
