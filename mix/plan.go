package mix

import (
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
)

// A Plan is a Config with degree and noise decided, and the bill. It is made by arithmetic alone, before any
// record is read.
type Plan struct {
	Config     Config
	Event      accountant.Event // of one mixture
	Std        float64          // standard deviation of the noise on a sum, features and scaled labels alike
	Label      float64          // length of a one-hot label in the units of the features
	Stages     []Stage
	Total      accountant.Bound // ε of all stages together at the budget's δ
	Candidates []Candidate      // degrees looked at, where the configuration left it open
}

// A Stage is one line of the bill.
type Stage struct {
	Purpose         string
	Event           accountant.Event // of one of Count equal releases
	Parts           int              // disjoint parts of the records, each with its Count releases
	Count           int
	NoiseMultiplier float64
	Epsilon         accountant.Bound // of this stage if it were the only one
}

// The purposes under which a run writes its ledger lines.
const (
	PurposeCenters  = "mean records"
	PurposeMixtures = "mixtures"
)

// Plan decides what the configuration leaves open and adds up the bill.
//
// Guarantee: the events of the plan are the ones Fit reserves and spends.
// Errors: those of Validate, and accountant.ErrBudgetExceeded if noise multipliers given by the caller cost more
// than the budget.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := c.calibrateCenters(); err != nil {
		return nil, err
	}
	var p Plan
	var err error
	if _, degree := c.Sampling.public(); degree == 0 {
		c, p.Candidates, err = c.choose()
	} else if c.NoiseMultiplier == 0 {
		c.NoiseMultiplier, err = c.leastNoise()
	}
	if err != nil {
		return nil, fmt.Errorf("mix: noise of the mixtures: %w", err)
	}
	c.LabelShare = c.share()
	p.Config = c
	return &p, p.bill()
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

// leastNoise is the smallest noise multiplier over the sound analyses of the sampling.
func (c Config) leastNoise() (float64, error) {
	best := 0.0
	for i := range c.Sampling.events(c.geometry(), c.rate(), 1) {
		event := func(m float64) accountant.Event { return c.total(c.Sampling.events(c.geometry(), c.rate(), m)[i]) }
		if best > 0 { // worth a search only if it would do with less
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

// roundUp leaves room for the roundings on the way from a multiplier to a standard deviation and back.
const roundUp = 1 + 1e-6

// mixtures are all mixtures as one event.
func (c Config) mixtures(one accountant.Event) accountant.Event {
	each := accountant.Repeated{Event: one, Count: c.Mixtures / c.parts()}
	if !c.ByClass {
		return each
	}
	d := accountant.Disjoint{}
	for range c.parts() {
		d.Parts = append(d.Parts, each)
	}
	return d
}

// total is everything the run releases.
func (c Config) total(one accountant.Event) accountant.Event {
	if !c.Centers.wanted() {
		return c.mixtures(one)
	}
	return accountant.Composed{Events: []accountant.Event{gaussian(c.Centers.NoiseMultiplier), c.mixtures(one)}}
}

func (p *Plan) bill() error {
	c := p.Config
	g := c.geometry()
	p.Std, p.Label = c.NoiseMultiplier*g.norm(), g.label
	if err := p.cheapest(); err != nil {
		return err
	}
	if c.Centers.wanted() {
		p.Stages = append(p.Stages, Stage{Purpose: PurposeCenters, Event: gaussian(c.Centers.NoiseMultiplier),
			Parts: 1, Count: 1,
			NoiseMultiplier: c.Centers.NoiseMultiplier})
	}
	p.Stages = append(p.Stages, Stage{Purpose: PurposeMixtures, Event: p.Event, Parts: c.parts(),
		Count:           c.Mixtures / c.parts(),
		NoiseMultiplier: c.NoiseMultiplier})
	for i := range p.Stages {
		s := &p.Stages[i]
		all := s.Event
		if s.Purpose == PurposeMixtures {
			all = c.mixtures(s.Event)
		}
		var err error
		if s.Epsilon, err = accountant.Epsilon(all, c.Budget.Delta, c.Budget.Relation); err != nil {
			return fmt.Errorf("mix: cost of %s: %w", s.Purpose, err)
		}
	}
	if p.Total.Upper > c.Budget.Epsilon {
		return fmt.Errorf("mix: the plan costs ε = %.4g of %.4g: %w", p.Total.Upper, c.Budget.Epsilon,
			accountant.ErrBudgetExceeded)
	}
	return nil
}

// cheapest takes the analysis that makes the whole run cost least.
func (p *Plan) cheapest() error {
	c := p.Config
	found := false
	for _, e := range c.Sampling.events(c.geometry(), c.rate(), c.NoiseMultiplier) {
		cost, err := accountant.Epsilon(c.total(e), c.Budget.Delta, c.Budget.Relation)
		if err != nil {
			return fmt.Errorf("mix: cost of the whole run: %w", err)
		}
		if !found || cost.Upper < p.Total.Upper {
			p.Event, p.Total, found = e, cost, true
		}
	}
	return nil
}

// made refuses what no call of Config.Plan has made.
func (p *Plan) made() error {
	if p == nil || p.Event == nil {
		return mistake("Plan", nil, "a plan made by Config.Plan or read from a file")
	}
	return nil
}

// Degree is ℓ; 0 for a plan that Config.Plan has not made.
func (p *Plan) Degree() int {
	if p.made() != nil {
		return 0
	}
	_, degree := p.Config.Sampling.public()
	return degree
}

// Noise gives the standard deviations of the noise on a released row, which is a mixture divided by its degree.
func (p *Plan) Noise() (features, labels float64) {
	if p.made() != nil {
		return 0, 0
	}
	l := float64(p.Degree())
	if p.Label > 0 {
		labels = p.Std / (p.Label * l)
	}
	return p.Std / l, labels
}

// String is the bill.
func (p *Plan) String() string {
	if p.made() != nil {
		return "plan: mix, not made yet"
	}
	c := p.Config
	var b strings.Builder
	what := "mixtures"
	if c.ByClass {
		what = "mixtures of one class each"
	}
	x, y := p.Noise()
	fmt.Fprintf(&b, "plan: mix, %d %s of %d records, %v\n", c.Mixtures, what, p.Degree(), c.Schema)
	fmt.Fprintf(&b, "budget: ε = %g, δ = %g, %v\n", c.Budget.Epsilon, c.Budget.Delta, c.Budget.Relation)
	fmt.Fprintf(&b, "noise on a row: %.4g on features, %.4g on labels\n", x, y)
	for _, s := range p.Stages {
		fmt.Fprintf(&b, "  %-12s %5d × %s", s.Purpose, s.Count, accountant.Describe(s.Event))
		if s.Parts > 1 {
			fmt.Fprintf(&b, " in each of %d disjoint classes", s.Parts)
		}
		fmt.Fprintf(&b, "; alone ε = %.4g\n", s.Epsilon.Upper)
	}
	if len(p.Candidates) > 0 {
		fmt.Fprintf(&b, "  degree by predicted signal-to-noise of %v:", c.Criterion)
		for _, k := range p.Candidates {
			fmt.Fprintf(&b, " %d: %.3g", k.Degree, k.Score)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "  together     ε = %.4g", p.Total.Upper)
	return b.String()
}
