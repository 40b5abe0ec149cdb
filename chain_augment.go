package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/augment"
	"github.com/seed7ba64551/privgen/records"
)

// Augmented adds a private choice among changes of the synthetic images, such as distortions. The
// choice prefers the change after which a classifier of synthetic images recognises most real ones.
// The chain's budget pays for the system and the choice, on one ledger.
//
//	gen, err := privgen.MERF(schema, budget).Nominal(60_000).
//		Labelled(labelling.Config{}).
//		Augmented(augment.Config{}).
//		Fit(ctx, images)
//
// Fields of a that are not set get defaults; Budget and Of are the chain's.
func (c LabellingChain) Augmented(a augment.Config) AugmentChain {
	return augmented(a, c.config.Budget, c.planFor)
}

// Augmented adds a private choice among changes of the synthetic images; see
// [LabellingChain.Augmented].
func (c MERFChain) Augmented(a augment.Config) AugmentChain {
	return augmented(a, c.budget, c.planFor)
}

// Augmented adds a private choice among changes of the synthetic images; see
// [LabellingChain.Augmented].
func (c GANChain) Augmented(a augment.Config) AugmentChain {
	return augmented(a, c.budget, c.planFor)
}

// augmented returns the chain of a choice beside a system that of plans for a part of the budget.
func augmented(a augment.Config, b accountant.Budget, of planner) AugmentChain {
	a.Budget = b
	return AugmentChain{config: a, of: of}
}

// AugmentChain describes a run of a system and of a choice among changes of its synthetic images;
// see package augment.
type AugmentChain struct {
	of     planner
	config augment.Config
	seeds
}

// Seed sets the seed of the classifiers and of the distortions.
func (c AugmentChain) Seed(seed uint64) AugmentChain {
	c.seed = &seed
	return c
}

// Plan plans the other system for the part of the budget that the choice leaves, and prices all
// stages together. It reads no records.
//
// Errors: all errors of the other system's chain and of augment.Config;
// accountant.ErrBudgetExceeded.
func (c AugmentChain) Plan() (*augment.Plan, error) {
	config := c.config
	c.set(&config.Seed)
	if c.of == nil {
		return config.Plan() // an error that names the missing part
	}
	config, err := config.Within(c.of)
	if err != nil {
		return nil, err
	}
	return config.Plan()
}

// Fit calls Plan and then the plan's Fit.
func (c AugmentChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator,
	error) {
	return fit(ctx, c.Plan, data, opts)
}
