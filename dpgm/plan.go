package dpgm

import (
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
)

// A Plan is a Config with every noise multiplier decided, and the bill: which
// private stages will run, and what they cost. It is made by arithmetic alone,
// before any record is read.
type Plan struct {
	Config Config
	Stages []Stage
	Total  accountant.Bound // ε of all stages together at the budget's δ
}

// A Stage is one line of the bill.
type Stage struct {
	Purpose         string
	Event           accountant.Event // of one of Count equal releases
	Count           int
	NoiseMultiplier float64
	Epsilon         accountant.Bound // of this stage if it were the only one
}

// The names of stages, in plans and in progress. Training and marginals write their ledger lines under them; the
// line of the clustering is package kmeans's, which says more.
const (
	PurposeCluster = "k-means"
	PurposeTrain   = "training"
)

// Plan decides what the configuration leaves open and adds up the bill.
//
// Guarantee: the events of the plan are the ones Fit reserves and spends.
// Errors: those of Validate, and accountant.ErrBudgetExceeded if noise
// multipliers given by the caller cost more than the budget.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := c.calibrate(); err != nil {
		return nil, err
	}
	p := &Plan{Config: c}
	if err := p.bill(); err != nil {
		return nil, err
	}
	return p, nil
}

// calibrate fills the noise multipliers that are zero: clustering first, from its
// share, then training, from what is left of ε when both are composed.
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

func (c Config) trainEvent(noiseMultiplier float64) accountant.Event {
	t := c.Train
	t.NoiseMultiplier = noiseMultiplier
	return t.Event(c.Budget.Relation)
}

// total is everything the run releases, as a function of the training's noise.
func (c Config) total(trainNoise float64) accountant.Event {
	train := accountant.Repeated{Event: c.trainEvent(trainNoise), Count: c.Train.Steps}
	var events []accountant.Event
	if c.clustered() {
		events = append(events, c.clusterEvent(c.Cluster.NoiseMultiplier))
	}
	if c.Marginals != nil {
		events = append(events, c.Marginals.event(c.Marginals.NoiseMultiplier))
	}
	if len(events) == 0 {
		return train
	}
	return accountant.Composed{Events: append(events, train)}
}

func (p *Plan) bill() error {
	c := p.Config
	if c.clustered() {
		p.Stages = append(p.Stages, Stage{Purpose: PurposeCluster, Event: c.clusterEvent(c.Cluster.NoiseMultiplier),
			Count: 1, NoiseMultiplier: c.Cluster.NoiseMultiplier})
	}
	if m := c.Marginals; m != nil {
		p.Stages = append(p.Stages, Stage{Purpose: PurposeMarginals, Event: m.event(m.NoiseMultiplier), Count: 1, NoiseMultiplier: m.NoiseMultiplier})
	}
	p.Stages = append(p.Stages, Stage{Purpose: PurposeTrain, Event: c.trainEvent(c.Train.NoiseMultiplier),
		Count: c.Train.Steps, NoiseMultiplier: c.Train.NoiseMultiplier})
	for i := range p.Stages {
		s := &p.Stages[i]
		var err error
		if s.Epsilon, err = accountant.Epsilon(accountant.Repeated{Event: s.Event, Count: s.Count}, c.Budget.Delta, c.Budget.Relation); err != nil {
			return fmt.Errorf("dpgm: cost of %s: %w", s.Purpose, err)
		}
	}
	var err error
	if p.Total, err = accountant.Epsilon(c.total(c.Train.NoiseMultiplier), c.Budget.Delta, c.Budget.Relation); err != nil {
		return fmt.Errorf("dpgm: cost of the whole run: %w", err)
	}
	if p.Total.Upper > c.Budget.Epsilon {
		return fmt.Errorf("dpgm: the plan costs ε = %.4g of %.4g: %w", p.Total.Upper, c.Budget.Epsilon, accountant.ErrBudgetExceeded)
	}
	return nil
}

// String is the bill.
func (p *Plan) String() string {
	if len(p.Stages) == 0 {
		return "plan: dpgm, not made yet"
	}
	c := p.Config
	var b strings.Builder
	fmt.Fprintf(&b, "plan: dpgm, %d × %s, %v\n", c.Cluster.K, c.Model.Name(), c.Schema)
	fmt.Fprintf(&b, "budget: ε = %g, δ = %g, %v\n", c.Budget.Epsilon, c.Budget.Delta, c.Budget.Relation)
	for _, s := range p.Stages {
		event, count := s.Event, s.Count
		if r, ok := event.(accountant.Repeated); ok {
			event, count = r.Event, count*r.Count
		}
		fmt.Fprintf(&b, "  %-9s %5d × %s; alone ε = %.4g\n", s.Purpose, count, accountant.Describe(event), s.Epsilon.Upper)
	}
	fmt.Fprintf(&b, "  together  ε = %.4g", p.Total.Upper)
	return b.String()
}
