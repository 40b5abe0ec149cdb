package dpgm

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Plan is a Config with every noise multiplier chosen, together with its price.
type Plan struct {
	synth.Program
	Config Config
}

// The names of the stages, which are also the purposes of their ledger entries. A kmeans.DPNorm has
// the stage kmeans.PurposeNorm.
const (
	PurposeCluster = kmeans.PurposeIterations // only with two or more clusters
	PurposeTrain   = "training"
)

// Plan replaces zero noise multipliers and, if Nominal is set, all other zero fields. It then
// prices all stages.
//
// Guarantee: a run reserves and spends exactly the events of the plan. Errors: *param.Error values,
// joined, for every mistake in the configuration, and accountant.ErrBudgetExceeded if noise
// multipliers given by the caller cost more than the budget.
func (c Config) Plan() (*Plan, error) {
	c, err := c.chosen()
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	c = c.own()
	if err := c.calibrate(); err != nil {
		return nil, err
	}
	if z := c.Train.NoiseMultiplier; !mechanism.IsNoiseMultiplier(z) ||
		c.clustered() && !mechanism.IsNoiseMultiplier(c.Cluster.NoiseMultiplier) {
		return nil, param.New("dpgm.Config.Budget", c.Budget, "a budget that needs noise multipliers "+
			"of at most 2^24")
	}
	if c.Marginals != nil {
		m := newMarginalSums(c)
		if err := mechanism.CheckCountNoise("dpgm.Marginals.NoiseMultiplier", max(m.countStd, m.sizeStd),
			c.Schema.RowsPerPerson() > 0); err != nil {
			return nil, err
		}
	}
	program, err := synth.NewProgram(systemName, c.Schema, c.Budget, c.stages(), &work{c.own()})
	if err != nil {
		return nil, err
	}
	return &Plan{program, c}, nil
}

// PlanFor implements [synth.Design].
func (c Config) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Schema, c.Budget = s, b
	return synth.PlanOf(c.Plan())
}

// MarshalJSON writes the plan: its public parameters, every noise multiplier and the price of every
// stage.
//
// Errors: an error for a plan whose clustering starts at public records or uses features of a
// user-defined kernel. Such a plan cannot be written as JSON.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if p.Config.Cluster.Init.Method == kmeans.FromPublic {
		return nil, errors.New("dpgm: a plan with kmeans.Public records cannot be written as JSON: " +
			"cluster the public records first and give the centres instead")
	}
	return p.Program.MarshalJSON()
}

// calibrate sets the noise multipliers that are zero. Clustering and marginals are calibrated to
// their shares of ε. Training is calibrated last, to the part of ε that the other stages leave.
func (c *Config) calibrate() error {
	if c.clustered() && c.Cluster.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateShare(c.Budget, c.Cluster.Share, c.clusterEvent)
		if err != nil {
			return fmt.Errorf("dpgm: noise of the clustering: %w", err)
		}
		c.Cluster = c.Cluster.WithNoise(z)
		c.Cluster.Share = 0
	}
	if c.Marginals != nil && c.Marginals.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateShare(c.Budget, c.Marginals.Share, c.Marginals.event)
		if err != nil {
			return fmt.Errorf("dpgm: noise of the marginals: %w", err)
		}
		c.Marginals = &Marginals{NoiseMultiplier: z, ClipNorm: c.Marginals.ClipNorm}
	}
	if c.Train.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateNoise(c.Budget, c.total)
		if err != nil {
			return fmt.Errorf("dpgm: noise of the training: %w", err)
		}
		c.Train.NoiseMultiplier = z
	}
	return nil
}

func (c Config) clusterEvent(noiseMultiplier float64) accountant.Event {
	return c.Cluster.WithNoise(noiseMultiplier).Event(c.Budget.Relation)
}

// total returns the event of everything that a run releases, as a function of the training's noise
// multiplier.
func (c Config) total(trainNoise float64) accountant.Event {
	c.Train.NoiseMultiplier = trainNoise
	return synth.Total(c.stages()...)
}

// stages returns the stages in the order in which they run.
func (c Config) stages() (list []synth.Stage) {
	if c.clustered() {
		for _, line := range c.Cluster.Lines() {
			list = append(list, synth.Stage{Purpose: line.Purpose, Event: line.Event,
				Count: line.Count, NoiseMultiplier: c.Cluster.NoiseMultiplier})
		}
		if c.Cluster.Norm != nil {
			list[0].NoiseMultiplier = c.Cluster.Norm.NoiseMultiplier
		}
	}
	if m := c.Marginals; m != nil {
		list = append(list, synth.Stage{Purpose: PurposeMarginals, Event: m.event(m.NoiseMultiplier),
			Count: 1, NoiseMultiplier: m.NoiseMultiplier, Once: true})
	}
	return append(list, synth.Stage{Purpose: PurposeTrain, Event: c.Train.Event(c.Budget.Relation),
		Count: c.Train.Steps, NoiseMultiplier: c.Train.NoiseMultiplier})
}
