package baselines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// ErrSchema is returned when data of another schema than the plan's are fitted. The schema is public.
var ErrSchema = errors.New("baselines: the data's schema is not the plan's")

// Common is what every method is told. All of it is public.
type Common struct {
	Schema records.Schema
	Budget accountant.Budget
	// MaxItems is how many items of a record are used; which ones is a fixed function of the record. 0 takes each
	// method's own default.
	MaxItems int
	Seed     uint64 // of public randomness
}

func (c Common) validate() []error {
	errs := []error{c.Budget.Validate()}
	bad := func(field string, value any, want string) {
		errs = append(errs, &param.Error{Path: "baselines.Common." + field, Value: value, Want: want})
	}
	switch err := c.Schema.Validate(); {
	case err != nil:
		bad("Schema", c.Schema.String(), err.Error())
	case !c.Schema.Sparse() || c.Schema.Classes() > 0:
		bad("Schema", c.Schema.String(), "sets without classes")
	}
	if c.MaxItems < 0 || c.MaxItems > c.Schema.MaxItems() {
		bad("MaxItems", c.MaxItems, "a number up to the schema's, 0 for the default")
	}
	return errs
}

// A Stage is one line of the bill: Count equal events.
type Stage struct {
	Purpose string
	Event   accountant.Event
	Count   int
}

// method is one of the synthesisers with everything but its noise decided.
type method interface {
	name() string
	common() Common
	stages(noise float64) []Stage
	fit(ctx context.Context, data records.Data, noise float64, next func(stage int) (*mechanism.Grant, error)) (sampler, error)
}

// A Plan is a method with its noise and its bill, made by arithmetic alone. It is safe to use for any number of fits.
type Plan struct {
	Stages []Stage
	Total  accountant.Bound // ε of all stages together at the budget's δ
	method method
	noise  float64
}

// newPlan finds the least noise that the budget pays for.
func newPlan(m method) (*Plan, error) {
	b := m.common().Budget
	event := func(noise float64) accountant.Event { return together(m.stages(noise)) }
	noise, _, err := accountant.CalibrateNoise(b, event)
	if err != nil {
		return nil, fmt.Errorf("baselines: noise of %s: %w", m.name(), err)
	}
	p := &Plan{method: m, noise: noise, Stages: m.stages(noise)}
	if p.Total, err = accountant.Epsilon(event(noise), b.Delta, b.Relation); err != nil {
		return nil, fmt.Errorf("baselines: cost of %s: %w", m.name(), err)
	}
	return p, nil
}

func together(stages []Stage) accountant.Event {
	var all accountant.Composed
	for _, s := range stages {
		all.Events = append(all.Events, accountant.Repeated{Event: s.Event, Count: s.Count})
	}
	return all
}

// String is the bill.
func (p *Plan) String() string {
	if p.method == nil {
		return "plan: not made yet"
	}
	c := p.method.common()
	var b strings.Builder
	fmt.Fprintf(&b, "plan: %s, %v\nbudget: ε = %g, δ = %g, %v\n", p.method.name(), c.Schema, c.Budget.Epsilon, c.Budget.Delta, c.Budget.Relation)
	for _, s := range p.Stages {
		fmt.Fprintf(&b, "  %-14s %5d × %s\n", s.Purpose, s.Count, accountant.Describe(s.Event))
	}
	fmt.Fprintf(&b, "  together       ε = %.4g", p.Total.Upper)
	return b.String()
}

// Fit carries out the plan on private records.
//
// Guarantee: everything in the generator is a function of releases that the ledger holds; all of them are reserved before a
// record is read, and the events are the plan's. Nothing is refunded.
// Errors: ErrSchema, *param.Error, accountant.ErrBudgetExceeded before anything is drawn, ctx.Err(). No error depends on a record.
func (p *Plan) Fit(ctx context.Context, data records.Data, ledger *accountant.Ledger) (*Generator, error) {
	if err := p.check(data, ledger); err != nil {
		return nil, err
	}
	run := mechanism.Begin(ctx, ledger)
	allowances := make([]*mechanism.Allowance, len(p.Stages))
	for i, s := range p.Stages {
		var err error
		if allowances[i], err = run.Reserve(s.Purpose, s.Event, s.Count); err != nil {
			return nil, err
		}
	}
	s, err := p.method.fit(ctx, data, p.noise, func(stage int) (*mechanism.Grant, error) { return allowances[stage].Next() })
	if err != nil {
		return nil, err
	}
	return &Generator{schema: p.method.common().Schema, sampler: s, guarantee: ledger.Guarantee()}, nil
}

// check judges what is public about a run before it begins.
func (p *Plan) check(data records.Data, ledger *accountant.Ledger) error {
	switch {
	case p == nil || p.method == nil:
		return missing("p", "a plan, made by a method's Plan")
	case data == nil:
		return missing("data", "records")
	}
	c := p.method.common()
	if err := system.CheckLedger("baselines.Fit.ledger", ledger, c.Budget.Relation); err != nil {
		return err
	}
	if !data.Schema().Equal(c.Schema) {
		return ErrSchema
	}
	if err := system.CheckUnit("baselines.Fit.data", ledger, records.UnitOf(data)); err != nil {
		return err
	}
	return system.Affordable("baselines", ledger, together(p.Stages))
}

func missing(field, want string) error {
	return &param.Error{Path: "baselines.Fit." + field, Value: nil, Want: want}
}
