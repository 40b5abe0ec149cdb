package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// GAN begins a chain for a generative adversarial network (Zhang, Ji and Wang 2018; package gan says where this differs
// from the paper).
//
// The schema is public. Labels, if it has any, are a part of the record: the generator makes records of each class,
// in public proportions. The chain is a plain value; a step only records, so chains can be forked freely, and
// everything is judged at once by Plan.
func GAN(schema records.Schema, budget accountant.Budget) GANChain {
	return GANChain{schema: schema, budget: budget}
}

// GANChain is a GAN being described.
type GANChain struct {
	schema    records.Schema
	budget    accountant.Budget
	critic    models.CriticArchitecture
	generator models.GeneratorArchitecture
	latent    int
	config    gan.Config
}

// Critic sets the network that tells records from fakes, the only one that sees records.
func (c GANChain) Critic(a models.CriticArchitecture) GANChain {
	c.critic = a
	return c
}

// Generator sets the network that makes records out of codes of some coordinates.
func (c GANChain) Generator(a models.GeneratorArchitecture, latent int) GANChain {
	c.generator, c.latent = a, latent
	return c
}

// Train sets how both are trained. The chain's own schema, budget, networks and code length take the place of the
// configuration's. A zero noise multiplier is found from the budget.
func (c GANChain) Train(g gan.Config) GANChain {
	c.config = g
	return c
}

// Plan validates the chain, finds the noise and adds up the bill. No record is read.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded;
// accountant.ErrUnsupported where no sound analysis is known.
func (c GANChain) Plan() (*GANPlan, error) {
	c.config.Schema, c.config.Budget = c.schema, c.budget
	c.config.Critic, c.config.Generator, c.config.Latent = c.critic, c.generator, c.latent
	p, err := c.config.Plan()
	if err != nil {
		return nil, err
	}
	return &GANPlan{p}, nil
}

// Fit is Plan and then GANPlan.Fit.
func (c GANChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	p, err := c.Plan()
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, data, opts...)
}

// GANPlan is a GAN with its bill. It prints itself and can be written as JSON and read back.
type GANPlan struct{ plan *gan.Plan }

// String is the bill.
func (p *GANPlan) String() string { return p.plan.String() }

// Total is ε of the whole run at the budget's δ, as an interval.
func (p *GANPlan) Total() accountant.Bound { return p.plan.Total }

// Stages are the lines of the bill.
func (p *GANPlan) Stages() []gan.Stage { return append([]gan.Stage(nil), p.plan.Stages...) }

// Fit carries out the plan on private records, on a ledger of its own.
//
// Guarantee: the generator satisfies the plan's (ε, δ) under its relation, for the unit that the data state: a
// record, or a user (see records.UnitOf).
// Errors: gan.ErrSchema, ctx.Err(). No error depends on a record's value.
func (p *GANPlan) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	return p.FitOn(ctx, ownLedger(p.plan.Config.Budget, data), data, opts...)
}

// FitOn is Fit on a ledger that other work shares: the generator's guarantee is then that of everything on the ledger
// so far.
//
// Errors: those of Fit; accountant.ErrBudgetExceeded before anything is drawn.
func (p *GANPlan) FitOn(ctx context.Context, ledger *accountant.Ledger, data records.Data, opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	m, err := gan.Fit(ctx, p.plan, data, ledger, ganOptions(opts)...)
	if err != nil {
		return nil, err
	}
	return &Generator{m}, nil
}

// FitFrom is Fit with a checkpoint kept in a file every so many critic steps, or, where the file is there, goes on from
// it. A run that was killed thus goes on by being started again; gan.Checkpoint says what a kill costs, and why two
// runs must not share a file.
//
// Errors: those of Fit; gan.ErrPlan for a checkpoint of another plan; gan.ErrTaken; those of the file system.
func (p *GANPlan) FitFrom(ctx context.Context, path string, every int, data records.Data, opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	passed := append(ganOptions(opts), gan.WithCheckpoint(path, every))
	m, err := gan.FitFrom(ctx, p.plan, path, data, passed...)
	if err != nil {
		return nil, err
	}
	return &Generator{m}, nil
}

func ganOptions(opts []Option) (passed []gan.Option) {
	o := collect(opts)
	if o.backend != nil {
		passed = append(passed, gan.WithBackend(o.backend))
	}
	if o.progress != nil {
		passed = append(passed, gan.WithProgress(func(s gan.Progress) { o.progress(Progress(s)) }))
	}
	if o.preview != nil {
		passed = append(passed, gan.WithPreview(o.every, func(step int, m *gan.Model) { o.preview(step, &Generator{m}) }))
	}
	return passed
}

// MarshalJSON writes the plan. Errors: public records, which a plan in JSON cannot hold.
func (p *GANPlan) MarshalJSON() ([]byte, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	return p.plan.MarshalJSON()
}

// UnmarshalJSON reads a plan and works out its bill again. A plan that cannot be read leaves p as it was.
// Errors: those of Plan.
func (p *GANPlan) UnmarshalJSON(data []byte) error {
	read := new(gan.Plan)
	if err := read.UnmarshalJSON(data); err != nil {
		return err
	}
	p.plan = read
	return nil
}
