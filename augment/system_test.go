package augment_test

import (
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/augment"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

var kills = flag.Int("kills", 3, "how many processes to kill")

var systems = synth.Systems{merf.System()}

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

// planOf plans a choice between two candidates, which change images only.
func planOf(s records.Schema, b accountant.Budget, n int) (*augment.Plan, error) {
	c := augment.Config{Budget: b, Candidates: make([]augment.Candidate, 2), Records: 30, Seed: 3}
	if s.Kind() == records.GreyImage {
		c.Candidates[1].Distortion = 1
	}
	c, err := c.Within(func(b accountant.Budget) (synth.Plan, error) { return embedding(s, b, n) })
	if err != nil {
		return nil, err
	}
	return c.Plan()
}

var subject = synthtest.Subject{System: augment.System(systems), Interrupts: 5,
	Plan: func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
		return synth.PlanOf(planOf(s, b, n))
	}}

func TestContract(t *testing.T) { synthtest.Run(t, subject) }

// TestKilled kills processes at random moments.
func TestKilled(t *testing.T) { synthtest.Kill(t, subject, *kills) }
