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

// DPGM begins a chain for a mixture of generative networks (Acs et al. 2017/2019; package dpgm says
// where this differs from the papers).
//
// The schema is public: bounds and sizes in it are declared, never read from the records. Labels,
// if it has any, are not modelled: synthetic records carry none. The chain is a plain value; a step
// only records, so chains can be forked freely, the order of steps means nothing, and everything is
// judged at once by Plan.
func DPGM(schema records.Schema, budget accountant.Budget) DPGMChain {
	return DPGMChain{config: dpgm.Config{Schema: schema, Budget: budget}}
}

// DPGMChain is a DPGM run being described.
type DPGMChain struct {
	config dpgm.Config
	seeds
}

// Nominal declares about how many records there are, a public number, from which everything that is
// not set follows: see package dpgm. The guarantee does not rest on it.
func (c DPGMChain) Nominal(records int) DPGMChain {
	c.config.Nominal = records
	return c
}

// Features sets the space the records are clustered in, for example rff.RBF, or rff.Strokes for
// images. Without it, and without a nominal size, records are clustered as they are (standard
// private k-means).
func (c DPGMChain) Features(k rff.FeatureKernel) DPGMChain {
	c.config.Features = k
	return c
}

// Cluster sets the number of clusters, and how they are found. With K = 1 there is one network for
// all records and nothing else to set.
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

// Train sets how the networks are trained. A zero NoiseMultiplier is found from the budget.
func (c DPGMChain) Train(s sgd.Config) DPGMChain {
	c.config.Train = s
	return c
}

// Average releases a moving average of the training's parameters with the given decay, such as 0.9,
// instead of the last ones: noise averages out, and it costs nothing.
func (c DPGMChain) Average(decay float64) DPGMChain {
	c.config.Average = decay
	return c
}

// Seed sets the seed of public randomness: frequencies, initial centres and weights. It has nothing
// to do with the noise, which cannot be seeded.
func (c DPGMChain) Seed(seed uint64) DPGMChain {
	c.seed = &seed
	return c
}

// Plan validates the chain, finds every noise multiplier and adds up the bill. No record is read.
//
// Errors: joined *param.Error values, one for each mistake; accountant.ErrBudgetExceeded;
// accountant.ErrUnsupported where no sound analysis is known.
func (c DPGMChain) Plan() (*dpgm.Plan, error) {
	c.set(&c.config.Seed)
	return c.config.Plan()
}

// Fit is Plan and then the plan's Fit.
func (c DPGMChain) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	return fit(ctx, c.Plan, data, opts)
}
