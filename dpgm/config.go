package dpgm

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// Config describes a whole training run. Every field is public.
//
// Cluster.K is the number k of networks. With k = 1 there is nothing to
// cluster: Features stays nil, the other fields of Cluster stay zero, and the
// whole budget trains the one network.
//
// A zero NoiseMultiplier of Cluster or of Train is found by Plan from the budget:
// clustering gets the noise at which it alone would cost Cluster.Share of ε,
// training the least noise at which both together cost no more than ε. Noise
// multipliers given by the caller are used as they are, and refused if they do
// not fit the budget.
type Config struct {
	Schema    records.Schema
	Budget    accountant.Budget
	Features  rff.Kernel // feature space of the clustering; nil clusters the records as they are
	Cluster   kmeans.Config
	Marginals *Marginals // frequencies released beside the clusters; nil for none
	Model     models.DensityArchitecture
	Train     sgd.Config
	Average   float64 // decay of a moving average of the released parameters, in [0, 1); 0 keeps the last ones
	Seed      uint64  // of public randomness: frequencies, initial centres and weights
}

// Validate reports every mistake, as joined *param.Error values.
func (c Config) Validate() error {
	var errs []error
	errs = append(errs, c.Schema.Validate(), c.Budget.Validate())
	if c.Schema.Kind() == records.MixedTable {
		errs = append(errs, &param.Error{Path: "dpgm.Config.Schema", Value: c.Schema.String(),
			Want: "vectors, images or sets: the columns of a table depend on one another within a one-hot block"})
	}
	errs = append(errs, c.validateClustering()...)
	errs = append(errs, c.validateMarginals()...)
	errs = append(errs, c.validateModel())
	train := c.Train
	if train.NoiseMultiplier == 0 {
		train.NoiseMultiplier = 1 // found by Plan; any valid value lets the other fields be judged
	}
	errs = append(errs, train.Validate())
	if !(c.Average >= 0 && c.Average < 1) {
		errs = append(errs, &param.Error{Path: "dpgm.Config.Average", Value: c.Average, Want: "a decay in [0, 1)"})
	}
	return errors.Join(errs...)
}

func (c Config) validateClustering() []error {
	if c.Cluster.K == 1 {
		return c.validateSingle()
	}
	cluster := c.Cluster
	var errs []error
	if cluster.NoiseMultiplier == 0 {
		if !(cluster.Share > 0 && cluster.Share < 1) {
			errs = append(errs, &param.Error{Path: "kmeans.Config.Share", Value: cluster.Share,
				Want: "the part of ε for clustering, between 0 and 1, or a NoiseMultiplier"})
		}
		cluster = cluster.WithNoise(1)
	} else if cluster.Share != 0 {
		errs = append(errs, &param.Error{Path: "kmeans.Config.Share", Value: cluster.Share,
			Want: "zero where a NoiseMultiplier is given: one of them decides"})
	}
	errs = append(errs, cluster.Validate())
	if c.Features != nil && c.Schema.Validate() == nil {
		_, err := c.Features.New(c.Schema.Dim(), c.Seed)
		errs = append(errs, err)
	}
	return errs
}

func (c Config) validateSingle() []error {
	var errs []error
	if c.Features != nil {
		errs = append(errs, &param.Error{Path: "dpgm.Config.Features", Value: fmt.Sprintf("%T", c.Features),
			Want: "none: one cluster needs no feature space"})
	}
	if c.Cluster.Share != 0 || c.Cluster.NoiseMultiplier != 0 || c.Cluster.Iterations != 0 {
		errs = append(errs, &param.Error{Path: "kmeans.Config", Value: "K 1",
			Want: "no Share, NoiseMultiplier or Iterations: one cluster costs nothing"})
	}
	if c.Train.NominalBatch == 0 && !c.Train.Optimizer.ScaleFree() {
		errs = append(errs, &param.Error{Path: "sgd.Config.NominalBatch", Value: 0.0,
			Want: "a positive public number to divide gradient sums by, since only Adam does without"})
	}
	return errs
}

// validateModel builds one network, since an architecture may be sound and yet not
// fit the records: what would fail must fail before anything is spent.
func (c Config) validateModel() error {
	if c.Model == nil {
		return &param.Error{Path: "dpgm.Config.Model", Value: nil, Want: "an architecture such as models.VAE"}
	}
	if err := system.CheckSize("dpgm.Config.Model", c.Model, c.parameters); err != nil {
		return err
	}
	if c.Schema.Validate() != nil {
		return nil // reported by itself
	}
	net, err := c.Model.New(device.CPU(), visible(c.Schema), c.Seed)
	if err != nil {
		return err
	}
	if _, able := net.(models.MarginalSetter); c.Marginals != nil && !able {
		return &param.Error{Path: "dpgm.Config.Marginals", Value: c.Model.Name(), Want: "networks that can be told their marginals, such as models.VAE's"}
	}
	return nil
}

// parameters is the number of those of all networks together, 0 where the architecture does not say.
func (c Config) parameters() int64 {
	s, ok := c.Model.(models.DensitySizer)
	if !ok || c.Schema.Validate() != nil {
		return 0
	}
	n, _ := s.Size(visible(c.Schema))
	if k := int64(c.Cluster.K); k > 1 && n > math.MaxInt64/k {
		return math.MaxInt64
	}
	return n * int64(max(c.Cluster.K, 1))
}

// clustered reports whether there is a clustering stage.
func (c Config) clustered() bool { return c.Cluster.K > 1 }

// visible is what a network sees of a record.
func visible(s records.Schema) models.Visible {
	likelihood := models.Bernoulli
	if s.Kind() == records.IntervalVector {
		likelihood = models.GaussianUnit
	}
	return models.Visible{Dim: s.Dim(), Likelihood: likelihood, Sparse: s.Sparse()}
}
