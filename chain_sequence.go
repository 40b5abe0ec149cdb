package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sequence"
	"github.com/seed7ba64551/privgen/synth"
)

// First is a chain whose system can be the first of a sequence: [MERF], [Mix], [DPGM], [GAN], a
// [Pool], a chain on ranks or with a classifier, or a sequence itself. The budget of this chain is
// the budget of the first system.
type First interface{ first() (Plan, error) }

func (c MERFChain) first() (Plan, error)     { return synth.PlanOf(c.Plan()) }
func (c MixChain) first() (Plan, error)      { return synth.PlanOf(c.Plan()) }
func (c DPGMChain) first() (Plan, error)     { return synth.PlanOf(c.Plan()) }
func (c GANChain) first() (Plan, error)      { return synth.PlanOf(c.Plan()) }
func (c SequenceChain) first() (Plan, error) { return synth.PlanOf(c.Plan()) }

// After runs another system first, on the same ledger. Its synthetic records are the public records
// of the GAN, which warms up on them or computes clip norms from them. The chain's budget is the
// budget of both systems together. The GAN gets the part that the first system leaves.
//
//	plan, err := privgen.GAN(schema, budget).Nominal(60_000).
//		After(privgen.MERF(schema, most).Nominal(60_000)).
//		Plan()
func (c GANChain) After(first First) SequenceChain {
	c.config.Follows = true
	return SequenceChain{before: first, config: sequence.Config{Budget: c.budget}, then: c.planFor}
}

// After runs another system first, on the same ledger. The networks are trained on its synthetic
// records before they see private ones. The chain's budget is the budget of both systems together.
// DPGM gets the part that the first system leaves.
func (c DPGMChain) After(first First) SequenceChain {
	c.config.Follows = true
	return SequenceChain{before: first, config: sequence.Config{Budget: c.config.Budget},
		then: c.planFor}
}

// SequenceChain describes a run of two systems one after the other on one ledger; see package
// sequence.
type SequenceChain struct {
	before First
	then   planner
	config sequence.Config
	seeds
}

// Records sets the number of synthetic records that the second system gets from the first. The
// default is 10,000.
func (c SequenceChain) Records(n int) SequenceChain {
	c.config.Records = n
	return c
}

// Seed sets the seed with which the first system's synthetic records are drawn.
func (c SequenceChain) Seed(seed uint64) SequenceChain {
	c.seed = &seed
	return c
}

// Plan validates both chains, finds the second system's budget and prices all stages together. It
// reads no records.
//
// Errors: all errors of both chains; *param.Error if the two systems do not fit together;
// accountant.ErrBudgetExceeded if the first system leaves too little.
func (c SequenceChain) Plan() (*sequence.Plan, error) {
	config := c.config
	c.set(&config.Seed)
	if c.before == nil || c.then == nil {
		return config.Plan() // an error that names the missing part
	}
	var err error
	if config.First, err = c.before.first(); err != nil {
		return nil, err
	}
	if config, err = config.Within(c.then); err != nil {
		return nil, err
	}
	return config.Plan()
}

// Fit calls Plan and then the plan's Fit.
func (c SequenceChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator,
	error) {
	return fit(ctx, c.Plan, data, opts)
}
