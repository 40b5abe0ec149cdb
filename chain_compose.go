package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
)

// Compose begins a chain for a system made of other systems; see package compose. The chains of
// this package are the parts. Their own schemas and budgets are not used: the composition divides
// its budget among its own releases and the parts.
//
//	gen, err := privgen.Compose(schema, budget, compose.Labels{
//		Of:      privgen.MERF(schema, budget).Nominal(60_000),
//		Nominal: 60_000,
//	}).Fit(ctx, images)
func Compose(schema records.Schema, budget accountant.Budget, d Design) ComposedChain {
	return ComposedChain{schema, budget, d}
}

// ComposedChain describes a run of a system made of other systems.
type ComposedChain struct {
	schema records.Schema
	budget accountant.Budget
	design Design
}

// Plan plans all parts and prices all stages together. It reads no records.
//
// Errors: *param.Error for a missing composition; all errors of the composition and of its parts;
// accountant.ErrBudgetExceeded.
func (c ComposedChain) Plan() (Plan, error) { return c.PlanFor(c.schema, c.budget) }

// PlanFor implements [synth.Design].
func (c ComposedChain) PlanFor(s records.Schema, b accountant.Budget) (Plan, error) {
	d := c.design
	if d == nil {
		d = compose.Pool{} // an error that names the missing parts
	}
	return d.PlanFor(s, b)
}

// Fit calls Plan and then the plan's Fit.
func (c ComposedChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator,
	error) {
	return fit(ctx, c.Plan, data, opts)
}
