package draft

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// Purpose is the purpose of an estimate on the ledger.
const Purpose = "schema draft"

// A Plan is a Config with the noise chosen, and its price. It is computed before any record is
// read.
type Plan struct {
	Config      Config
	Event       accountant.Event // the release of counts, and of the texts of open columns
	Columns     int              // columns that are estimated
	Cells       int              // counts that are released
	Sensitivity float64          // L2, of all counts together
	Std         float64          // standard deviation of the noise on every count
	// Threshold is the noisy count from which a level is kept. For l bins together it is √l times as
	// large.
	Threshold float64
	// Open is the number of columns with open levels, and OpenThreshold the noisy count from which
	// one of their texts is a level.
	Open          int
	OpenThreshold float64
	Total         accountant.Bound // ε at the budget's δ
}

// Plan chooses the settings that the configuration leaves open, and prices all stages.
//
// Guarantee: Fit reserves and spends exactly the event of the plan. Errors: *param.Error values,
// joined, and accountant.ErrBudgetExceeded if a noise multiplier given by the caller costs more
// than the budget.
func (c Config) Plan() (*Plan, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateNoise(c.Budget, c.event)
		if err != nil {
			return nil, fmt.Errorf("draft: noise of the counts: %w", err)
		}
		if c.NoiseMultiplier = z; !mechanism.IsNoiseMultiplier(z) {
			return nil, param.New("draft.Config.Budget", c.Budget, "a budget that needs a noise multiplier "+
				"of at most 2^24")
		}
	}
	p := &Plan{Config: c, Event: c.event(c.NoiseMultiplier), Columns: len(estimated(c.Candidates))}
	tests := 0
	for _, h := range c.histograms() {
		p.Cells += h.cells
		tests += h.tests()
	}
	p.Sensitivity = sensitivity(c.Budget.Relation, p.Columns)
	counts, texts := c.parts(c.NoiseMultiplier)
	if own, ok := counts.(accountant.Gaussian); ok {
		p.Std = own.NoiseMultiplier * p.Sensitivity
	}
	p.Std = max(p.Std, leastStd)
	if own, ok := texts.(accountant.SparseHistogram); ok {
		p.Open, p.OpenThreshold = own.Cells, own.Threshold
		if err := mechanism.CheckCountNoise("draft.Config.NoiseMultiplier", own.Sigma, true); err != nil {
			return nil, err
		}
	}
	if err := mechanism.CheckCountNoise("draft.Config.NoiseMultiplier", p.Std,
		c.Candidates.RowsPerPerson() > 0); err != nil {
		return nil, err
	}
	p.Threshold = threshold(p.Std, c.FalseAlarm, tests)
	var err error
	if p.Total, err = accountant.Epsilon(p.Event, c.Budget.Delta, c.Budget.Relation); err != nil {
		return nil, fmt.Errorf("draft: cost: %w", err)
	}
	if p.Total.Upper > c.Budget.Epsilon {
		return nil, fmt.Errorf("draft: the plan costs ε = %s, the budget is %g: %w",
			accountant.FormatUpper(p.Total.Upper, 4), c.Budget.Epsilon, accountant.ErrBudgetExceeded)
	}
	return p, nil
}

// leastStd is the smallest standard deviation of the noise. Noise of this size hides nothing. Less
// noise would only enlarge the range of the sums.
const leastStd = 0x1p-10

// sensitivity returns the L2 sensitivity of all counts together to one record. A record counts in
// one cell of every column. Adding or removing it changes one count of each column by 1. Replacing
// it changes at most two.
func sensitivity(r accountant.Relation, columns int) float64 {
	if r == accountant.ReplaceOne {
		columns *= 2
	}
	return math.Sqrt(float64(columns))
}

// threshold returns a number that any of n normal variables of standard deviation std exceeds with
// probability at most falseAlarm, by the union bound.
func threshold(std, falseAlarm float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return std * math.Sqrt2 * math.Erfcinv(2*falseAlarm/float64(n))
}

// String returns the plan's text: the price of every stage.
func (p *Plan) String() string {
	if p == nil {
		p = &Plan{}
	}
	c := p.Config
	var b strings.Builder
	fmt.Fprintf(&b, "plan: draft of a schema, %d columns in %d cells, %v\n", p.Columns, p.Cells,
		c.Candidates)
	fmt.Fprintf(&b, "budget: ε = %g, δ = %g, %v\n", c.Budget.Epsilon, c.Budget.Delta,
		c.Budget.Relation)
	if most := c.Candidates.RowsPerPerson(); most > 0 {
		g := ledger.Guarantee{Epsilon: p.Total.Upper, Delta: c.Budget.Delta,
			Relation: c.Budget.Relation, Unit: records.UnitUser, RowsPerUnit: most}
		fmt.Fprintf(&b, "unit: %s\n", g.Units())
	}
	fmt.Fprintf(&b, "noise on a count: %.4g; a level is kept from a count of %.4g\n",
		p.Std, p.Threshold)
	if p.Open > 0 {
		fmt.Fprintf(&b, "texts of %d columns with open levels are levels from a noisy count of %.4g\n", p.Open,
			p.OpenThreshold)
	}
	fmt.Fprintf(&b, "  %s  1 × %s; ε = %s", Purpose, accountant.Describe(p.Event),
		accountant.FormatUpper(p.Total.Upper, 4))
	return param.Lines(b.String(), "")
}

const planVersion = 1

type planJSON struct {
	Version         int               `json:"version"`
	Candidates      records.Schema    `json:"candidates"`
	Budget          accountant.Budget `json:"budget"`
	NoiseMultiplier float64           `json:"noise_multiplier"`
	FalseAlarm      float64           `json:"false_alarm"`
	BinsPerDoubling int               `json:"bins_per_doubling"`
	Epsilon         accountant.Bound  `json:"epsilon"` // for people who read the file
}

// MarshalJSON writes the plan: its public parameters with the noise chosen.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if p == nil {
		return nil, param.New("draft.Plan", nil, "a plan made by Config.Plan or read from a file")
	}
	c := p.Config
	return json.Marshal(planJSON{planVersion, c.Candidates, c.Budget, c.NoiseMultiplier, c.FalseAlarm,
		c.BinsPerDoubling, p.Total})
}

// UnmarshalJSON reads a plan and prices it again: the price in the file is not trusted. Errors: see
// Config.Plan.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var j planJSON
	if err := param.Decode(data, &j); err != nil {
		return fmt.Errorf("draft: plan: %w", err)
	}
	if j.Version != planVersion {
		return &param.Error{Path: "draft.Plan.version", Value: j.Version, Want: fmt.Sprint(planVersion)}
	}
	read, err := Config{j.Candidates, j.Budget, j.NoiseMultiplier, j.FalseAlarm,
		j.BinsPerDoubling}.Plan()
	if err != nil {
		return err
	}
	*p = *read
	return nil
}
