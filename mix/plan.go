package mix

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// The names of the stages, which are also the purposes of their ledger entries.
const (
	PurposeCenters  = "mean records"
	PurposeMixtures = "mixtures"
)

// A Plan is a Config with its degree and noise chosen, together with its price. It is computed
// before any record is read. In addition to the methods of every plan, it has [Plan.Stream], which
// yields mixtures without storing them.
type Plan struct {
	synth.PassProgram
	Config     Config
	Candidates []Candidate // degrees considered, if the plan chose the degree

	work *work
}

// Plan chooses the settings that the configuration leaves open and prices all stages.
//
// Guarantee: a run reserves and spends exactly the events of the plan. Errors: *param.Error values,
// joined, for every mistake in the configuration, and accountant.ErrBudgetExceeded if the given
// noise multipliers cost more than the budget.
func (c Config) Plan() (*Plan, error) {
	c, err := c.chosen()
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := c.calibrateCenters(); err != nil {
		return nil, err
	}
	var candidates []Candidate
	if c.degree() == 0 {
		c, candidates, err = c.choose()
	} else if c.NoiseMultiplier == 0 {
		c.NoiseMultiplier, err = c.leastNoise()
	}
	if err != nil {
		return nil, fmt.Errorf("mix: noise of the mixtures: %w", err)
	}
	c.LabelShare = c.share()
	event, err := c.cheapest()
	if err != nil {
		return nil, err
	}
	p := &Plan{Config: c, Candidates: candidates, work: newWork(c)}
	p.work.candidates = candidates
	p.PassProgram, err = synth.NewPassProgram(systemName, c.Schema, c.Budget, c.stages(event), p.work)
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

func (c *Config) calibrateCenters() error {
	if !c.Centers.wanted() || c.Centers.NoiseMultiplier != 0 {
		return nil
	}
	z, _, err := accountant.CalibrateShare(c.Budget, c.Centers.Share, gaussian)
	if err != nil {
		return fmt.Errorf("mix: noise of the mean records: %w", err)
	}
	c.Centers.NoiseMultiplier, c.Centers.Share = z, 0
	return nil
}

func gaussian(noiseMultiplier float64) accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: noiseMultiplier}
}

// leastNoise returns the smallest noise multiplier that meets the budget under at least one of the
// sampling's privacy analyses.
func (c Config) leastNoise() (float64, error) {
	best := 0.0
	for i := range c.Sampling.events(c.geometry(), c.rate(), 1) {
		event := func(m float64) accountant.Event {
			return c.total(c.Sampling.events(c.geometry(), c.rate(), m)[i])
		}
		if best > 0 { // search only if this analysis might permit less noise
			less, err := accountant.Epsilon(event(0.99*best), c.Budget.Delta, c.Budget.Relation)
			if err != nil || less.Upper > c.Budget.Epsilon {
				continue
			}
		}
		m, _, err := accountant.CalibrateNoise(c.Budget, event)
		if err != nil {
			return 0, err
		}
		best = m * roundUp
	}
	return best, nil
}

// roundUp is larger than 1 by more than the rounding error of converting a multiplier to a standard
// deviation and back.
const roundUp = 1 + 1e-6

// total returns the event of everything that a run releases, given the event of one mixture.
func (c Config) total(one accountant.Event) accountant.Event {
	return synth.Total(c.stages(one)...)
}

// cheapest compares the events of all analyses and returns the event with which the whole run costs
// least.
func (c Config) cheapest() (best accountant.Event, err error) {
	all := c.Sampling.events(c.geometry(), c.rate(), c.NoiseMultiplier)
	if len(all) == 1 {
		return all[0], nil
	}
	var least accountant.Bound
	for _, e := range all {
		cost, err := accountant.Epsilon(c.total(e), c.Budget.Delta, c.Budget.Relation)
		if err != nil {
			return nil, fmt.Errorf("mix: cost of the whole run: %w", err)
		}
		if best == nil || cost.Upper < least.Upper {
			best, least = e, cost
		}
	}
	return best, nil
}

// stages returns the stage of mean records, if requested, and the stage of mixtures. Lanes draw
// concurrently. The number of lanes is fixed, so the result does not depend on the machine.
//
// Parts are classes. A class is a value of the record itself, so parts are fixed. Every event
// covers a record that joins or leaves its class: see PoissonReplaceOne.events.
func (c Config) stages(event accountant.Event) (list []synth.Stage) {
	if c.Centers.wanted() {
		z := c.Centers.NoiseMultiplier
		list = append(list, synth.Stage{Purpose: PurposeCenters, Event: gaussian(z), Count: 1,
			NoiseMultiplier: z, Once: true})
	}
	parts := c.parts()
	return append(list, synth.Stage{Purpose: PurposeMixtures, Event: event,
		Count: c.Mixtures / parts, Parts: parts, Lanes: max(1, (fewestLanes+parts-1)/parts),
		Fixed: parts > 1, MovesCovered: parts > 1,
		NoiseMultiplier: c.NoiseMultiplier})
}

const fewestLanes = 8

// Degree returns ℓ, or 0 for the zero plan.
func (p *Plan) Degree() int {
	if p == nil || p.work == nil {
		return 0
	}
	return p.work.degree()
}

// Noise returns the standard deviations of the noise on a released row, which is a mixture divided
// by its degree.
func (p *Plan) Noise() (features, labels float64) {
	if p == nil || p.work == nil {
		return 0, 0
	}
	return p.work.noise()
}
