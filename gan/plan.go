package gan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
)

// A Plan is a Config with the noise multiplier decided, and the bill. It is made by arithmetic alone, before any
// record is read.
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
	NoiseMultiplier float64          // of the gradient's release
	Epsilon         accountant.Bound // of this stage if it were the only one
}

// PurposeCritic is the purpose under which critic steps are on the ledger: all that costs anything.
const PurposeCritic = "critic step"

// Plan decides what the configuration leaves open and adds up the bill.
//
// Guarantee: the events of the plan are the ones Fit reserves and spends.
// Errors: those of Validate, and accountant.ErrBudgetExceeded if a noise multiplier given by the caller costs more
// than the budget.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	c.ClassWeights, c.Clipping.Norms = slices.Clone(c.ClassWeights), slices.Clone(c.Clipping.Norms)
	if c.Train.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateNoise(c.Budget, func(z float64) accountant.Event {
			return accountant.Repeated{Event: c.event(z), Count: c.Train.Steps}
		})
		if err != nil {
			return nil, fmt.Errorf("gan: noise of the critic: %w", err)
		}
		c.Train.NoiseMultiplier = z
	}
	p := &Plan{Config: c}
	return p, p.bill()
}

// event is one critic step.
func (c Config) event(noiseMultiplier float64) accountant.Event {
	t := c.train()
	t.NoiseMultiplier = noiseMultiplier
	return t.Event(c.Budget.Relation)
}

func (p *Plan) bill() error {
	c := p.Config
	s := Stage{Purpose: PurposeCritic, Event: c.event(c.Train.NoiseMultiplier), Count: c.Train.Steps, NoiseMultiplier: c.Train.NoiseMultiplier}
	var err error
	if p.Total, err = accountant.Epsilon(accountant.Repeated{Event: s.Event, Count: s.Count}, c.Budget.Delta, c.Budget.Relation); err != nil {
		return fmt.Errorf("gan: cost of the critic: %w", err)
	}
	s.Epsilon = p.Total
	p.Stages = []Stage{s}
	if p.Total.Upper > c.Budget.Epsilon {
		return fmt.Errorf("gan: the plan costs ε = %.4g of %.4g: %w", p.Total.Upper, c.Budget.Epsilon, accountant.ErrBudgetExceeded)
	}
	return nil
}

// made refuses what no call of Config.Plan has made.
func (p *Plan) made() error {
	if p == nil || len(p.Stages) == 0 {
		return &param.Error{Path: "gan.Plan", Value: nil, Want: "a plan made by Config.Plan or read from a file"}
	}
	return nil
}

// String is the bill.
func (p *Plan) String() string {
	if p.made() != nil {
		return "plan: gan, not made yet"
	}
	c := p.Config
	var b strings.Builder
	fmt.Fprintf(&b, "plan: gan, critic %s, generator %s, %v loss, %v\n", c.Critic.Name(), c.Generator.Name(), c.Loss, c.Schema)
	fmt.Fprintf(&b, "budget: ε = %g, δ = %g, %v\n", c.Budget.Epsilon, c.Budget.Delta, c.Budget.Relation)
	for _, s := range p.Stages {
		fmt.Fprintf(&b, "  %-11s %6d × %s; alone ε = %.4g\n", s.Purpose, s.Count, accountant.Describe(s.Event), s.Epsilon.Upper)
	}
	fmt.Fprintf(&b, "  generator steps, one for %d critic steps, cost nothing\n", c.CriticSteps)
	if c.WarmSteps > 0 {
		fmt.Fprintf(&b, "  %d generator steps on public records come first\n", c.WarmSteps)
	}
	fmt.Fprintf(&b, "  together  ε = %.4g", p.Total.Upper)
	return b.String()
}
