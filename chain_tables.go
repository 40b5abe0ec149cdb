package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// AIM begins a chain for tables. It measures the marginals of a few columns that its model fits
// worst. It draws rows from the graphical model fitted to them (McKenna et al. 2022; see
// baselines.AIM).
func AIM(schema records.Schema, budget accountant.Budget) TableChain {
	return tables(schema, budget, func(c baselines.AIM) (*baselines.Plan, error) { return c.Plan() })
}

// MST begins a chain for tables. It measures pairs of columns along a tree that it chooses
// privately (McKenna, Miklau and Sheldon 2021; see baselines.MST).
func MST(schema records.Schema, budget accountant.Budget) TableChain {
	return tables(schema, budget, func(c baselines.AIM) (*baselines.Plan, error) {
		var k param.Checker
		k.OK(c.ClassPart == 0, "privgen.MST.ClassPart", c.ClassPart, "left out: MST has no such tables")
		k.OK(c.Rounds == 0, "privgen.MST.Rounds", c.Rounds, "left out: MST measures along a tree")
		k.OK(c.Order == 0, "privgen.MST.Order", c.Order, "left out: MST measures pairs")
		if err := k.Err(); err != nil {
			return nil, err
		}
		return baselines.MST{Tables: c.Tables}.Plan()
	})
}

// TableChain describes a run of one of the graphical models of package baselines.
type TableChain struct {
	config baselines.AIM
	plan   func(baselines.AIM) (*baselines.Plan, error)
	seeds
}

func tables(schema records.Schema, budget accountant.Budget,
	plan func(baselines.AIM) (*baselines.Plan, error)) TableChain {
	tables := baselines.Tables{Schema: schema, Budget: budget}
	return TableChain{config: baselines.AIM{Tables: tables}, plan: plan}
}

// Nominal sets the approximate number of records, which must be public. Fields that are not set get
// defaults derived from it; see package baselines. The guarantee does not depend on it.
func (c TableChain) Nominal(records int) TableChain {
	c.config.Nominal = records
	return c
}

// Bins sets the number of bins, with about equal numbers of records, into which a column of numbers
// is divided.
func (c TableChain) Bins(n int) TableChain {
	c.config.Bins = n
	return c
}

// Cells sets the largest number of cells of all tables of the fitted model together, which
// determines memory and time.
func (c TableChain) Cells(n int) TableChain {
	c.config.Cells = n
	return c
}

// ClassWeight sets the weight in choices of a marginal with the class relative to a marginal
// without it.
func (c TableChain) ClassWeight(weight float64) TableChain {
	c.config.ClassWeight = weight
	return c
}

// Fine sets the number of cells of equal width into which the first release divides a column of
// numbers.
func (c TableChain) Fine(cells int) TableChain {
	c.config.Fine = cells
	return c
}

// ColumnPart sets the fraction of the budget for the counts of single columns.
func (c TableChain) ColumnPart(fraction float64) TableChain {
	c.config.ColumnPart = fraction
	return c
}

// WithinPart sets the fraction of the budget for counts within frequent cells of numbers; a
// negative number means no such counts.
func (c TableChain) WithinPart(fraction float64) TableChain {
	c.config.WithinPart = fraction
	return c
}

// ClassPart sets the fraction of AIM's budget for measurements that is spent, without a choice, on
// the table of each column and the class. A negative number means none. Plan refuses it for MST.
func (c TableChain) ClassPart(fraction float64) TableChain {
	c.config.ClassPart = fraction
	return c
}

// Coarse sets the number of groups of a column's values in AIM's coarse tables; 1 means no coarse
// tables. MST has none.
func (c TableChain) Coarse(groups int) TableChain {
	c.config.Coarse = groups
	return c
}

// Rounds sets the number of marginals that AIM chooses. Plan refuses it for MST, which chooses one
// fewer than there are columns.
func (c TableChain) Rounds(n int) TableChain {
	c.config.Rounds = n
	return c
}

// Order sets the largest number of columns of a marginal that AIM measures, 2 or 3. Plan refuses
// it for MST.
func (c TableChain) Order(columns int) TableChain {
	c.config.Order = columns
	return c
}

// Seed sets the seed of public randomness. It does not affect the noise, which cannot be seeded.
func (c TableChain) Seed(seed uint64) TableChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, calibrates the noise and prices all stages. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake.
func (c TableChain) Plan() (*baselines.Plan, error) {
	if c.plan == nil {
		return c.config.Plan()
	}
	c.set(&c.config.Seed)
	return c.plan(c.config)
}

// PlanFor implements [synth.Design].
func (c TableChain) PlanFor(s records.Schema, b accountant.Budget) (Plan, error) {
	c.config.Schema, c.config.Budget = s, b
	return synth.PlanOf(c.Plan())
}

// Fit calls Plan and then the plan's Fit.
func (c TableChain) Fit(ctx context.Context, data records.Data,
	opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
