package fidelity

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

// Purpose is the purpose of a release on the ledger.
const Purpose = "fidelity figures"

// A Plan is a Config whose noise is chosen, with its price. It is computed before any record is
// read.
type Plan struct {
	Config      Config
	Event       accountant.Event // the one release
	Cells       int              // number of counts that are released
	Sensitivity float64          // L2, of all counts together
	Std         float64          // standard deviation of the noise on every count
	Total       accountant.Bound // ε at the budget's δ
}

// leastStd is the smallest standard deviation of the noise. Noise this small hides nothing, and
// even less would only enlarge the range of the sums.
const leastStd = 0x1p-10

// Plan chooses the settings that the configuration leaves open and prices the release.
//
// Guarantee: Release reserves and spends exactly the plan's event. Errors: all errors of Validate,
// and accountant.ErrBudgetExceeded if the given noise multiplier costs more than the budget.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.NoiseMultiplier == 0 {
		z, _, err := accountant.CalibrateNoise(c.Budget, event)
		if err != nil {
			return nil, fmt.Errorf("fidelity: choosing the noise of the counts: %w", err)
		}
		if c.NoiseMultiplier = z; !mechanism.IsNoiseMultiplier(z) {
			return nil, param.New("fidelity.Config.Budget", c.Budget, "a budget that needs a noise "+
				"multiplier of at most 2^24")
		}
	}
	histograms := c.histograms()
	p := &Plan{Config: c, Event: event(c.NoiseMultiplier),
		Sensitivity: sensitivity(c.Budget.Relation, len(histograms), len(c.Methods))}
	for _, h := range histograms {
		p.Cells += h.cells
	}
	p.Cells += len(c.Methods)
	p.Std = max(c.NoiseMultiplier*p.Sensitivity, leastStd)
	if err := mechanism.CheckCountNoise("fidelity.Config.NoiseMultiplier", p.Std,
		c.Schema.RowsPerPerson() > 0); err != nil {
		return nil, err
	}
	var err error
	if p.Total, err = accountant.Epsilon(p.Event, c.Budget.Delta, c.Budget.Relation); err != nil {
		return nil, fmt.Errorf("fidelity: pricing the counts: %w", err)
	}
	if p.Total.Upper > c.Budget.Epsilon {
		return nil, fmt.Errorf("fidelity: the plan costs ε = %s, the budget is %g: %w",
			accountant.FormatUpper(p.Total.Upper, 4), c.Budget.Epsilon, accountant.ErrBudgetExceeded)
	}
	return p, nil
}

func event(noiseMultiplier float64) accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: noiseMultiplier}
}

// sensitivity returns the largest L2 distance by which one record changes the counts. A record is
// in one cell of every column, and in the count of each classifier that classifies it correctly.
// Adding or removing a record changes each of these counts by at most 1. Replacing it changes two
// counts in every column and each classifier's count by at most 1. The same bounds hold for
// persons, because the weights of a person's rows add up to 1; see records.RowsOf.
func sensitivity(r accountant.Relation, columns, classifiers int) float64 {
	if r == accountant.ReplaceOne {
		columns *= 2
	}
	return math.Sqrt(float64(columns + classifiers))
}

// String returns the bill.
func (p *Plan) String() string {
	if p == nil {
		p = &Plan{}
	}
	c := p.Config
	var b strings.Builder
	fmt.Fprintf(&b, "plan: figures of fidelity, %d columns and %d classifiers in %d counts, %v\n",
		len(c.histograms()), len(c.Methods), p.Cells, c.Schema)
	fmt.Fprintf(&b, "budget: ε = %g, δ = %g, %v\n", c.Budget.Epsilon, c.Budget.Delta,
		c.Budget.Relation)
	if most := c.Schema.RowsPerPerson(); most > 0 {
		g := ledger.Guarantee{Epsilon: p.Total.Upper, Delta: c.Budget.Delta,
			Relation: c.Budget.Relation, Unit: records.UnitUser, RowsPerUnit: most}
		fmt.Fprintf(&b, "unit: %s\n", g.Units())
	}
	fmt.Fprintf(&b, "noise on a count: %.4g records\n", p.Std)
	fmt.Fprintf(&b, "  %s  1 × %s; ε = %s", Purpose, accountant.Describe(p.Event),
		accountant.FormatUpper(p.Total.Upper, 4))
	return param.Lines(b.String(), "")
}

const planVersion = 1

type planJSON struct {
	Version         int               `json:"version"`
	Schema          records.Schema    `json:"schema"`
	Budget          accountant.Budget `json:"budget"`
	NoiseMultiplier float64           `json:"noise_multiplier"`
	Bins            int               `json:"bins"`
	Methods         []string          `json:"methods"`
	Seed            uint64            `json:"seed,string"`
	Epsilon         accountant.Bound  `json:"epsilon"` // for human readers
}

// MarshalJSON writes the plan: its public parameters with the noise decided.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if p == nil || p.Event == nil {
		return nil, param.New("fidelity.Plan", nil, "a plan made by Config.Plan or read from a file")
	}
	c := p.Config
	if c.Methods == nil {
		c.Methods = []string{}
	}
	return json.Marshal(planJSON{planVersion, c.Schema, c.Budget, c.NoiseMultiplier, c.Bins, c.Methods,
		c.Seed, p.Total})
}

// UnmarshalJSON reads a plan and prices it again: the price in the file is not trusted. Errors: see
// Config.Plan.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var j planJSON
	if err := param.Decode(data, &j); err != nil {
		return fmt.Errorf("fidelity: plan: %w", err)
	}
	if j.Version != planVersion {
		return param.New("fidelity.Plan.version", j.Version, fmt.Sprint(planVersion))
	}
	read, err := Config{j.Schema, j.Budget, j.NoiseMultiplier, j.Bins, j.Methods, j.Seed}.Plan()
	if err != nil {
		return err
	}
	*p = *read
	return nil
}
