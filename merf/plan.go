package merf

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// PurposeEmbed is the name of the stage that releases the embedding, and the purpose of its ledger
// entry.
const PurposeEmbed = "mean embedding"

// A Plan is a Config with its noise chosen, together with its price. In addition to the methods of
// every plan, it has methods for records in pieces or shards. [Plan.Refit] trains a generator
// against an earlier release.
type Plan struct {
	synth.PassProgram
	Config   Config
	SumStd   float64 // standard deviation of the noise on each feature's sum
	CountStd float64 // standard deviation of the noise on each count; 0 if none is released

	work *work
}

// Plan chooses the settings that the configuration leaves open and prices all stages.
//
// Guarantee: a run reserves and spends exactly the event of the plan. Errors: *param.Error values,
// joined, for every mistake in the configuration, and accountant.ErrBudgetExceeded if a noise
// multiplier given by the caller costs more than the budget.
func (c Config) Plan() (*Plan, error) {
	c, err := c.chosen()
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	c.Kernel, c.Features = c.kernel(), 0
	c = c.own()
	if c.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateNoise(c.Budget, func(z float64) accountant.Event {
			return synth.Total(c.stage(z))
		})
		if err != nil {
			return nil, fmt.Errorf("merf: noise of the embedding: %w", err)
		}
		c.NoiseMultiplier = z
	}
	features, err := c.features()
	if err != nil {
		return nil, err
	}
	w := &work{config: c, features: features, noise: c.noise(features)}
	if w.noise.count > 0 {
		if err := mechanism.CheckCountNoise("merf.Config.CountShare", w.noise.count,
			c.Schema.RowsPerPerson() > 0); err != nil {
			return nil, err
		}
	}
	w.namePass()
	p := &Plan{Config: c.own(), SumStd: w.noise.sum, CountStd: w.noise.count, work: w}
	p.PassProgram, err = synth.NewPassProgram(systemName, c.Schema, c.Budget,
		[]synth.Stage{c.stage(c.NoiseMultiplier)}, w)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// PlanFor implements [synth.Design].
func (c Config) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Schema, c.Budget = s, b
	return synth.PlanOf(c.Plan())
}

// own returns a copy that shares no slice with the caller's configuration.
func (c Config) own() Config {
	c.Kernel, c.Generator.Architecture = network.Own(c.Kernel), network.Own(c.Generator.Architecture)
	return c
}

// Features returns the number of features of a record, or 0 for a nil or zero plan.
func (p *Plan) Features() int {
	if p.made() != nil {
		return 0
	}
	return p.work.features.Dim()
}
