package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// Mix begins a chain for noisy mixtures of records (Lee et al. 2019; package mix says where this differs from the
// paper).
//
// The schema is public. The chain is a plain value; a step only records, so chains can be forked freely, and
// everything is judged at once by Plan.
func Mix(schema records.Schema, budget accountant.Budget) MixChain {
	return MixChain{schema: schema, budget: budget}
}

// MixChain is a release of mixtures being described.
type MixChain struct {
	schema records.Schema
	budget accountant.Budget
	config mix.Config
}

// Mixtures sets how many mixtures of how many records are released, and how records get into them. The chain's own
// schema and budget take the place of the configuration's.
func (c MixChain) Mixtures(m mix.Config) MixChain {
	c.config = m
	return c
}

// Plan validates the chain, finds degree and noise and adds up the bill. No record is read.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded;
// accountant.ErrUnsupported where no sound analysis is known.
func (c MixChain) Plan() (*MixPlan, error) {
	c.config.Schema, c.config.Budget = c.schema, c.budget
	p, err := c.config.Plan()
	if err != nil {
		return nil, err
	}
	return &MixPlan{p}, nil
}

// Fit is Plan and then MixPlan.Fit.
func (c MixChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	p, err := c.Plan()
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, data, opts...)
}

// MixPlan is a release of mixtures with its bill. It prints itself and can be written as JSON and read back.
type MixPlan struct{ plan *mix.Plan }

// String is the bill.
func (p *MixPlan) String() string { return p.plan.String() }

// Total is ε of the whole run at the budget's δ, as an interval.
func (p *MixPlan) Total() accountant.Bound { return p.plan.Total }

// Stages are the lines of the bill.
func (p *MixPlan) Stages() []mix.Stage { return append([]mix.Stage(nil), p.plan.Stages...) }

// Fit carries out the plan on private records, on a ledger of its own. Of tables and sets the generator draws as
// many records as are asked for, from what the released rows show; of vectors and images it hands out the released
// rows, and hands them out again when asked for more.
//
// Guarantee: the generator satisfies the plan's (ε, δ) under its relation, for the unit that the data state: a record, or a
// user (see records.UnitOf).
// Errors: mix.ErrSchema, mix.ErrRecords, ctx.Err(). No error depends on a record's value.
func (p *MixPlan) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	return p.FitOn(ctx, ownLedger(p.plan.Config.Budget, data), data, opts...)
}

// FitOn is Fit on a ledger that other work shares: the generator's guarantee is then that of everything on the
// ledger so far.
//
// Errors: those of Fit; accountant.ErrBudgetExceeded before anything is drawn.
func (p *MixPlan) FitOn(ctx context.Context, ledger *accountant.Ledger, data records.Data,
	opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	m, err := mix.Fit(ctx, p.plan, data, ledger, mixOptions(opts)...)
	if err != nil {
		return nil, err
	}
	return &Generator{m}, nil
}

func mixOptions(opts []Option) (passed []mix.Option) {
	o := collect(opts)
	if o.backend != nil {
		passed = append(passed, mix.WithWorkers(o.backend.Workers()))
	}
	if o.progress != nil {
		passed = append(passed, mix.WithProgress(func(s mix.Progress) { o.progress(Progress(s)) }))
	}
	return passed
}

// Mixtures are the released rows with their soft labels, where the generator holds mixtures; nil otherwise.
func (g *Generator) Mixtures() *mix.Rows {
	if m, ok := g.held().(*mix.Model); ok {
		return m.Rows()
	}
	return nil
}

// MarshalJSON writes the plan.
func (p *MixPlan) MarshalJSON() ([]byte, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	return p.plan.MarshalJSON()
}

// UnmarshalJSON reads a plan and works out its bill again. A plan that cannot be read leaves p as it was.
// Errors: those of Plan.
func (p *MixPlan) UnmarshalJSON(data []byte) error {
	read := new(mix.Plan)
	if err := read.UnmarshalJSON(data); err != nil {
		return err
	}
	p.plan = read
	return nil
}
