package merf

import (
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/rff"
)

// PurposeEmbed is the purpose under which a run writes its ledger line.
const PurposeEmbed = "mean embedding"

// A Plan is a Config with its noise decided, and the bill. It is made by arithmetic alone, before any record is read.
type Plan struct {
	Config   Config
	Event    accountant.Event // of one of Count equal releases
	Count    int
	SumStd   float64          // standard deviation of the noise on each feature's sum
	CountStd float64          // of the noise on each class's count; 0 where counts are not released
	Total    accountant.Bound // ε of the whole plan at the budget's δ

	features rff.Embedding
	noise    noise
}

// Plan decides what the configuration leaves open and adds up the bill.
//
// Guarantee: the event of the plan is the one that Embed reserves and spends.
// Errors: those of Validate, and accountant.ErrBudgetExceeded if a noise multiplier given by the caller costs more
// than the budget.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Kernel, c.Features = c.kernel(), 0
	if c.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateNoise(c.Budget, func(z float64) accountant.Event {
			return accountant.Repeated{Event: c.event(z), Count: c.releases()}
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
	n := c.noise(features)
	p := &Plan{Config: c, Event: c.event(c.NoiseMultiplier), Count: c.releases(),
		SumStd: n.sum, CountStd: n.count, features: features, noise: n}
	return p, p.bill()
}

func (p *Plan) bill() error {
	budget := p.Config.Budget
	var err error
	all := accountant.Repeated{Event: p.Event, Count: p.Count}
	if p.Total, err = accountant.Epsilon(all, budget.Delta, budget.Relation); err != nil {
		return fmt.Errorf("merf: cost of the embedding: %w", err)
	}
	if p.Total.Upper > budget.Epsilon {
		return fmt.Errorf("merf: the plan costs ε = %.4g of %.4g: %w", p.Total.Upper, budget.Epsilon, accountant.ErrBudgetExceeded)
	}
	return nil
}

// made refuses what no call of Config.Plan has made.
func (p *Plan) made() error {
	if p == nil || p.features == nil {
		return &param.Error{Path: "merf.Plan", Value: nil, Want: "a plan made by Config.Plan or read from a file"}
	}
	return nil
}

// Features is the number of features of a record; 0 for a plan that Config.Plan has not made.
func (p *Plan) Features() int {
	if p.made() != nil {
		return 0
	}
	return p.features.Dim()
}

// String is the bill.
func (p *Plan) String() string {
	if p.made() != nil {
		return "plan: merf, not made yet"
	}
	c := p.Config
	var b strings.Builder
	fmt.Fprintf(&b, "plan: merf, %d features of %v\n", p.Features(), c.Schema)
	fmt.Fprintf(&b, "budget: ε = %g, δ = %g, %v\n", c.Budget.Epsilon, c.Budget.Delta, c.Budget.Relation)
	fmt.Fprintf(&b, "  %s  %d × %s; ε = %.4g\n", PurposeEmbed, p.Count, accountant.Describe(p.Event), p.Total.Upper)
	fmt.Fprintf(&b, "  noise on each sum of features ±%.4g (a record adds up to %.4g)", p.SumStd, p.features.NormBound())
	if p.CountStd > 0 {
		fmt.Fprintf(&b, ", on each count ±%.4g", p.CountStd)
	}
	b.WriteString("\n  training generators costs nothing more")
	return b.String()
}
