package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// AIM begins a chain for tables. It measures the marginals of a few columns that its model fits
// worst. It draws rows from the graphical model fitted to them (McKenna et al. 2022; see
// tables.AIM, which has further settings).
func AIM(schema records.Schema, budget accountant.Budget) CountChain {
	return ofTables(schema, budget, func(c tables.Common) (synth.PassProgram, error) {
		return tables.AIM{Common: c}.Plan()
	})
}

// MST begins a chain for tables. It measures pairs of columns along a tree that it chooses
// privately (McKenna, Miklau and Sheldon 2021; see tables.MST, which has further settings).
func MST(schema records.Schema, budget accountant.Budget) CountChain {
	return ofTables(schema, budget, func(c tables.Common) (synth.PassProgram, error) {
		return tables.MST{Common: c}.Plan()
	})
}

// Independent begins a chain for sets whose items are drawn independently, with the frequencies of
// one noisy release (see sets.Independent).
func Independent(schema records.Schema, budget accountant.Budget) CountChain {
	return ofSets(schema, budget, func(c sets.Common) (synth.PassProgram, error) {
		return sets.Independent{Common: c}.Plan()
	})
}

// MWEM begins a chain for sets drawn from weights that answer counting queries (Hardt, Ligett and
// McSherry 2012; see sets.MWEM, which has further settings).
func MWEM(schema records.Schema, budget accountant.Budget) CountChain {
	return ofSets(schema, budget, func(c sets.Common) (synth.PassProgram, error) {
		return sets.MWEM{Common: c}.Plan()
	})
}

// CountChain describes a run of a system that releases counts and trains no network: the graphical
// models of package tables, and the systems of package sets.
type CountChain struct {
	schema  records.Schema
	budget  accountant.Budget
	nominal int
	plan    func(CountChain) (synth.PassProgram, error)
	seeds
}

func ofTables(schema records.Schema, budget accountant.Budget,
	plan func(tables.Common) (synth.PassProgram, error)) CountChain {
	return CountChain{schema: schema, budget: budget,
		plan: func(c CountChain) (synth.PassProgram, error) {
			of := tables.Common{Schema: c.schema, Budget: c.budget, Nominal: c.nominal}
			c.set(&of.Seed)
			return plan(of)
		}}
}

func ofSets(schema records.Schema, budget accountant.Budget,
	plan func(sets.Common) (synth.PassProgram, error)) CountChain {
	return CountChain{schema: schema, budget: budget,
		plan: func(c CountChain) (synth.PassProgram, error) {
			of := sets.Common{Schema: c.schema, Budget: c.budget, Nominal: c.nominal}
			c.set(&of.Seed)
			return plan(of)
		}}
}

// Nominal sets the approximate number of records, which must be public. Fields that are not set get
// defaults derived from it; see packages tables and sets. The guarantee does not depend on it.
func (c CountChain) Nominal(records int) CountChain {
	c.nominal = records
	return c
}

// Seed sets the seed of public randomness. It does not affect the noise, which cannot be seeded.
func (c CountChain) Seed(seed uint64) CountChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, calibrates the noise and prices all stages. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake.
func (c CountChain) Plan() (synth.PassProgram, error) {
	if c.plan == nil {
		return tables.AIM{}.Plan() // an error: the schema is missing
	}
	return c.plan(c)
}

// PlanFor implements [synth.Design].
func (c CountChain) PlanFor(s records.Schema, b accountant.Budget) (Plan, error) {
	c.schema, c.budget = s, b
	return synth.PlanOf(c.Plan())
}

// Fit calls Plan and then the plan's Fit.
func (c CountChain) Fit(ctx context.Context, data records.Data,
	opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
