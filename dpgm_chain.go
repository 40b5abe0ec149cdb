package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// DPGM begins a chain for a mixture of generative networks (Acs et al. 2017/2019;
// package dpgm says where this differs from the papers).
//
// The schema is public: bounds and sizes in it are declared, never read from the
// records. Labels, if it has any, are not modelled: synthetic records carry none.
// The chain is a plain value; a step only records, so chains can be
// forked freely, and everything is judged at once by Plan.
func DPGM(schema records.Schema, budget accountant.Budget) DPGMChain {
	return DPGMChain{dpgm.Config{Schema: schema, Budget: budget}}
}

// DPGMChain is a DPGM run being described.
type DPGMChain struct{ config dpgm.Config }

// Features sets the space the records are clustered in, for example rff.RBF.
// Without it, records are clustered as they are (standard private k-means).
func (c DPGMChain) Features(k rff.Kernel) DPGMChain {
	c.config.Features = k
	return c
}

// Cluster sets the number of clusters, and how they are found. With K = 1 there
// is one network for all records and nothing else to set.
func (c DPGMChain) Cluster(k kmeans.Config) DPGMChain {
	c.config.Cluster = k
	return c
}

// Marginals has the frequency of every coordinate released beside the clusters, and the networks
// set to them: see dpgm.Marginals. Networks must be able to, as models.VAE's are.
func (c DPGMChain) Marginals(m dpgm.Marginals) DPGMChain {
	c.config.Marginals = &m
	return c
}

// Model sets the architecture of every cluster's network.
func (c DPGMChain) Model(a models.DensityArchitecture) DPGMChain {
	c.config.Model = a
	return c
}

// Train sets how the networks are trained. A zero NoiseMultiplier is found from
// the budget.
func (c DPGMChain) Train(s sgd.Config) DPGMChain {
	c.config.Train = s
	return c
}

// Average releases a moving average of the training's parameters with the given
// decay, such as 0.9, instead of the last ones: noise averages out, and it
// costs nothing.
func (c DPGMChain) Average(decay float64) DPGMChain {
	c.config.Average = decay
	return c
}

// Seed sets the seed of public randomness: frequencies, initial centres and
// weights. It has nothing to do with the noise, which cannot be seeded.
func (c DPGMChain) Seed(seed uint64) DPGMChain {
	c.config.Seed = seed
	return c
}

// Plan validates the chain, finds every noise multiplier and adds up the bill.
// No record is read.
//
// Errors: joined *param.Error values, one for each mistake;
// accountant.ErrBudgetExceeded; accountant.ErrUnsupported where no sound
// analysis is known.
func (c DPGMChain) Plan() (*DPGMPlan, error) {
	p, err := c.config.Plan()
	if err != nil {
		return nil, err
	}
	return &DPGMPlan{p}, nil
}

// Fit is Plan and then DPGMPlan.Fit.
func (c DPGMChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	p, err := c.Plan()
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, data, opts...)
}

// DPGMPlan is a DPGM run with its bill. It prints itself and can be written as
// JSON and read back.
type DPGMPlan struct{ plan *dpgm.Plan }

// String is the bill.
func (p *DPGMPlan) String() string { return p.plan.String() }

// Total is ε of the whole run at the budget's δ, as an interval.
func (p *DPGMPlan) Total() accountant.Bound { return p.plan.Total }

// Stages are the lines of the bill.
func (p *DPGMPlan) Stages() []dpgm.Stage { return append([]dpgm.Stage(nil), p.plan.Stages...) }

// Fit carries out the plan on private records, on a ledger of its own.
//
// Guarantee: the generator satisfies the plan's (ε, δ) under its relation, for the unit that
// the data state: a record, or a user (see records.UnitOf).
// Errors: dpgm.ErrSchema, ctx.Err(). No error depends on a record's value.
func (p *DPGMPlan) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	return p.FitOn(ctx, ownLedger(p.plan.Config.Budget, data), data, opts...)
}

// FitOn is Fit on a ledger that other work shares: the generator's guarantee is
// then that of everything on the ledger so far.
//
// Errors: those of Fit; accountant.ErrBudgetExceeded before anything is drawn.
func (p *DPGMPlan) FitOn(ctx context.Context, ledger *accountant.Ledger, data records.Data, opts ...Option) (*Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	m, err := dpgm.Fit(ctx, p.plan, data, ledger, dpgmOptions(opts)...)
	if err != nil {
		return nil, err
	}
	return &Generator{m}, nil
}

func dpgmOptions(opts []Option) (passed []dpgm.Option) {
	o := collect(opts)
	if o.backend != nil {
		passed = append(passed, dpgm.WithBackend(o.backend))
	}
	if o.progress != nil {
		passed = append(passed, dpgm.WithProgress(func(s dpgm.Progress) { o.progress(Progress(s)) }))
	}
	return passed
}

// MarshalJSON writes the plan.
func (p *DPGMPlan) MarshalJSON() ([]byte, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	return p.plan.MarshalJSON()
}

// UnmarshalJSON reads a plan and works out its bill again. A plan that cannot be read leaves p as it was.
// Errors: those of Plan.
func (p *DPGMPlan) UnmarshalJSON(data []byte) error {
	read := new(dpgm.Plan)
	if err := read.UnmarshalJSON(data); err != nil {
		return err
	}
	p.plan = read
	return nil
}
