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
	"github.com/seed7ba64551/privgen/synth"
)

// DPGM begins a chain for a mixture of generative networks (Acs et al. 2017/2019; package dpgm
// lists the differences from the papers).
//
// The schema is public: bounds and sizes in it are declared, never read from the records. Labels
// are not modelled: synthetic records have none. The chain is a plain value: a method sets a field
// of a copy. Chains can therefore be forked, and the order of calls does not matter. Plan reports
// all mistakes together.
func DPGM(schema records.Schema, budget accountant.Budget) DPGMChain {
	return DPGMChain{config: dpgm.Config{Schema: schema, Budget: budget}}
}

// DPGMChain describes a DPGM run.
type DPGMChain struct {
	config dpgm.Config
	seeds
}

// Nominal sets the approximate number of records, which must be public. Fields that are not set get
// defaults derived from it; see package dpgm. The guarantee does not depend on it.
func (c DPGMChain) Nominal(records int) DPGMChain {
	c.config.Nominal = records
	return c
}

// Features sets the space in which the records are clustered, for example rff.RBF, or rff.Strokes
// for images. If neither Features nor Nominal is set, the records themselves are clustered
// (standard private k-means).
func (c DPGMChain) Features(k rff.FeatureKernel) DPGMChain {
	c.config.Features = k
	return c
}

// Cluster sets the number of clusters and how they are found. If K is 1, there is one network for
// all records: the other fields must be zero, and Features must not be set.
func (c DPGMChain) Cluster(k kmeans.Config) DPGMChain {
	c.config.Cluster = k
	return c
}

// Marginals adds a release before training: the frequency of every coordinate in each cluster, and
// the distribution of a record's number of ones. The networks start from these frequencies; see
// dpgm.Marginals. They must implement models.MarginalSetter, as the networks of models.VAE do.
func (c DPGMChain) Marginals(m dpgm.Marginals) DPGMChain {
	c.config.Marginals = &m
	return c
}

// Model sets the architecture of every cluster's network.
func (c DPGMChain) Model(a models.DensityArchitecture) DPGMChain {
	c.config.Model = a
	return c
}

// Train sets how the networks are trained. Plan calibrates a NoiseMultiplier of 0 to
// the budget.
func (c DPGMChain) Train(s sgd.Config) DPGMChain {
	c.config.Train = s
	return c
}

// Average makes a moving average of the parameters the result of training, instead of the last
// parameters. A usual decay is 0.9. Averaging reduces the noise and costs no privacy.
func (c DPGMChain) Average(decay float64) DPGMChain {
	c.config.Average = decay
	return c
}

// Seed sets the seed of the public randomness, which draws the frequencies of random features, the
// initial centres and the initial weights. It does not affect the noise, which cannot be seeded.
func (c DPGMChain) Seed(seed uint64) DPGMChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, calibrates the noise multipliers that are zero and computes the privacy
// cost of all stages. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded;
// accountant.ErrUnsupported where no sound analysis is known.
func (c DPGMChain) Plan() (*dpgm.Plan, error) {
	c.set(&c.config.Seed)
	return c.config.Plan()
}

// PlanFor implements [synth.Design].
func (c DPGMChain) PlanFor(s records.Schema, b accountant.Budget) (Plan, error) {
	c.config.Schema, c.config.Budget = s, b
	return synth.PlanOf(c.Plan())
}

// Fit calls Plan and then the plan's Fit.
func (c DPGMChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
