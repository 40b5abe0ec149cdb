package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/records"
)

// AIM begins a chain for tables. It measures the marginals of a few columns that its model fits
// worst. It draws rows from the graphical model fitted to them (McKenna et al. 2022; see
// baselines.AIM).
func AIM(schema records.Schema, budget accountant.Budget) TableChain {
	return tables(schema, budget, func(t baselines.Tables, rounds, order int) (*baselines.Plan,
		error) {
		return baselines.AIM{Tables: t, Rounds: rounds, Order: order}.Plan()
	})
}

// MST begins a chain for tables. It measures pairs of columns along a tree that it chooses
// privately (McKenna, Miklau and Sheldon 2021; see baselines.MST).
func MST(schema records.Schema, budget accountant.Budget) TableChain {
	return tables(schema, budget, func(t baselines.Tables, _, _ int) (*baselines.Plan, error) {
		return baselines.MST{Tables: t}.Plan()
	})
}

// TableChain describes a run of one of the graphical models of package baselines.
type TableChain struct {
	tables        baselines.Tables
	rounds, order int
	plan          func(t baselines.Tables, rounds, order int) (*baselines.Plan, error)
	seeds
}

func tables(schema records.Schema, budget accountant.Budget,
	plan func(t baselines.Tables, rounds, order int) (*baselines.Plan, error)) TableChain {
	return TableChain{tables: baselines.Tables{Schema: schema, Budget: budget}, plan: plan}
}

// Nominal sets the approximate number of records, which must be public. Fields that are not set get
// defaults derived from it; see package baselines. The guarantee does not depend on it.
func (c TableChain) Nominal(records int) TableChain {
	c.tables.Nominal = records
	return c
}

// Bins sets the number of bins, with about equal numbers of records, into which a column of numbers
// is divided.
func (c TableChain) Bins(n int) TableChain {
	c.tables.Bins = n
	return c
}

// Cells sets the largest number of cells of all tables of the fitted model together, which
// determines memory and time.
func (c TableChain) Cells(n int) TableChain {
	c.tables.Cells = n
	return c
}

// ClassWeight sets the weight in choices of a marginal with the class relative to a marginal
// without it.
func (c TableChain) ClassWeight(weight float64) TableChain {
	c.tables.ClassWeight = weight
	return c
}

// Rounds sets the number of marginals that AIM chooses. MST always chooses one fewer than there are
// columns.
func (c TableChain) Rounds(n int) TableChain {
	c.rounds = n
	return c
}

// Order sets the largest number of columns of a marginal that AIM measures, 2 or 3.
func (c TableChain) Order(columns int) TableChain {
	c.order = columns
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
		return baselines.AIM{Tables: c.tables}.Plan()
	}
	c.set(&c.tables.Seed)
	return c.plan(c.tables, c.rounds, c.order)
}

// Fit calls Plan and then the plan's Fit.
func (c TableChain) Fit(ctx context.Context, data records.Data,
	opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
