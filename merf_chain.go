package privgen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// MERF begins a chain for labelled synthetic records from one private release of mean features (Harder et al. 2021;
// package merf says where this differs from the paper).
//
// The schema is public: bounds and levels in it are declared, never read from the records. Classes, if it has any, are
// modelled: OfClass draws records of one. The chain is a plain value; a step only records, so chains can be forked
// freely, and everything is judged at once by Plan.
func MERF(schema records.Schema, budget accountant.Budget) MERFChain {
	return MERFChain{config: merf.Config{Schema: schema, Budget: budget}}
}

// MERFChain is a DP-MERF run being described.
type MERFChain struct {
	config    merf.Config
	generator merf.GeneratorConfig
}

// Embed sets what is released about the records. Schema and budget are the chain's.
func (c MERFChain) Embed(e merf.Config) MERFChain {
	e.Schema, e.Budget = c.config.Schema, c.config.Budget
	c.config = e
	return c
}

// Generator sets the architecture that is trained against the release, for example models.MLP or models.ConvDecoder.
func (c MERFChain) Generator(a models.GeneratorArchitecture) MERFChain {
	c.generator.Architecture = a
	return c
}

// Train sets how the generator is trained, and its architecture if Generator has not. It costs nothing, whatever it
// is.
func (c MERFChain) Train(g merf.GeneratorConfig) MERFChain {
	if g.Architecture == nil {
		g.Architecture = c.generator.Architecture
	}
	c.generator = g
	return c
}

// Seed sets the seed of public randomness: features, initial weights and codes. It has nothing to do with the noise,
// which cannot be seeded.
func (c MERFChain) Seed(seed uint64) MERFChain {
	c.config.Seed, c.generator.Seed = seed, seed
	return c
}

// Plan validates the chain, finds the noise and adds up the bill. No record is read.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded.
func (c MERFChain) Plan() (*MERFPlan, error) {
	if err := errors.Join(c.config.Validate(), c.generator.Validate()); err != nil {
		return nil, err
	}
	p, err := c.config.Plan()
	if err != nil {
		return nil, err
	}
	return &MERFPlan{p, c.generator}, nil
}

// Fit is Plan and then MERFPlan.Fit.
func (c MERFChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	p, err := c.Plan()
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, data, opts...)
}

// MERFPlan is a DP-MERF run with its bill. It prints itself and can be written as JSON and read back.
type MERFPlan struct {
	plan      *merf.Plan
	generator merf.GeneratorConfig
}

// String is the bill.
func (p *MERFPlan) String() string { return p.plan.String() }

// Total is ε of the whole run at the budget's δ, as an interval.
func (p *MERFPlan) Total() accountant.Bound { return p.plan.Total }

// Embedding is the plan of the release, for sums over shards (merf.Plan.NewPartial).
func (p *MERFPlan) Embedding() *merf.Plan { return p.plan }

// Fit carries out the plan on private records, on a ledger of its own.
//
// Guarantee: the generator satisfies the plan's (ε, δ) under its relation, for the unit that the data state: a record, or a
// user (see records.UnitOf).
// Errors: merf.ErrSchema, ctx.Err(). No error depends on a record's value.
func (p *MERFPlan) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	return p.FitOn(ctx, ownLedger(p.plan.Config.Budget, data), data, opts...)
}

// FitOn is Fit on a ledger that other work shares: the generator's guarantee is then that of everything on the ledger
// so far.
//
// Errors: those of Fit; accountant.ErrBudgetExceeded before anything is drawn.
func (p *MERFPlan) FitOn(ctx context.Context, ledger *accountant.Ledger, data records.Data, opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	e, err := merf.Embed(ctx, p.plan, data, ledger, merfOptions(opts)...)
	if err != nil {
		return nil, err
	}
	return p.Refit(ctx, e, opts...)
}

// FitStream is FitOn for records that arrive in pieces, in memory that does not grow with their number.
func (p *MERFPlan) FitStream(ctx context.Context, ledger *accountant.Ledger, stream iter.Seq2[records.Data, error],
	opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	e, err := merf.EmbedStream(ctx, p.plan, stream, ledger, merfOptions(opts)...)
	if err != nil {
		return nil, err
	}
	return p.Refit(ctx, e, opts...)
}

// Refit trains the plan's generator against an embedding that was released before. It reads no record and costs
// nothing.
func (p *MERFPlan) Refit(ctx context.Context, e *merf.Embedding, opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	m, err := merf.Train(ctx, e, p.generator, merfOptions(opts)...)
	if err != nil {
		return nil, err
	}
	return &Generator{m}, nil
}

func merfOptions(opts []Option) (passed []merf.Option) {
	o := collect(opts)
	if o.backend != nil {
		passed = append(passed, merf.WithBackend(o.backend))
	}
	if o.progress != nil {
		passed = append(passed, merf.WithProgress(func(s merf.Progress) { o.progress(Progress(s)) }))
	}
	return passed
}

type merfPlanJSON struct {
	Embed     *merf.Plan           `json:"embed"`
	Generator merf.GeneratorConfig `json:"generator"`
}

// MarshalJSON writes the plan.
func (p *MERFPlan) MarshalJSON() ([]byte, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	return json.Marshal(merfPlanJSON{p.plan, p.generator})
}

// UnmarshalJSON reads a plan and works out its bill again. A plan that cannot be read leaves p as it was.
// Errors: those of Plan.
func (p *MERFPlan) UnmarshalJSON(data []byte) error {
	j := merfPlanJSON{Embed: new(merf.Plan)}
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("privgen: plan: %w", err)
	}
	if j.Embed == nil || j.Embed.Config.Kernel == nil {
		return fmt.Errorf("privgen: plan: %w: it holds no embedding", ErrFormat)
	}
	if err := j.Generator.Validate(); err != nil {
		return err
	}
	p.plan, p.generator = j.Embed, j.Generator
	return nil
}
