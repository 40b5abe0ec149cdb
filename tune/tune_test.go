package tune_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
	"github.com/seed7ba64551/privgen/tune"
)

// embeddings returns plans with two bandwidths.
func embeddings(s records.Schema, b accountant.Budget, n int) ([]synth.Plan, error) {
	var out []synth.Plan
	for _, bandwidth := range []float64{0.5, 2} {
		c := merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 8, Bandwidth: bandwidth},
			Generator: merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{6}}, Latent: 2,
				Steps: 4, Batch: 16}}
		if b.Relation == accountant.ReplaceOne {
			c.Nominal = n
		}
		p, err := c.Plan()
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// trialBudgets holds the budgets of single trials that Within found. They do not depend on the
// schema.
var trialBudgets = map[accountant.Budget]accountant.Budget{}

func searchPlan(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
	c := tune.Config{Budget: b, Trials: tune.Trials{Mean: 3, Limit: 6},
		Score: tune.Queries{Count: 10, Records: 40}, Noise: 20, Systems: synth.Systems{merf.System()}}
	make := func(trial accountant.Budget) ([]synth.Plan, error) { return embeddings(s, trial, n) }
	var err error
	if trial, known := trialBudgets[b]; known {
		c.Candidates, err = make(trial)
	} else if c, err = c.Within(make); err == nil {
		trialBudgets[b] = c.Candidates[0].Budget()
	}
	if err != nil {
		return nil, err
	}
	p, err := c.Plan()
	if err != nil {
		return nil, err
	}
	return p, nil
}

func subject() synthtest.Subject {
	return synthtest.Subject{System: tune.System(synth.Systems{merf.System()}), Plan: searchPlan}
}

func TestContract(t *testing.T) { synthtest.Run(t, subject()) }
