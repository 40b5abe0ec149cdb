package dpgm

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// Config describes a whole training run. Every field is public.
//
// Cluster.K is the number k of networks. With k = 1 there is no clustering: Features must be
// nil, the other fields of Cluster must be zero, and the whole budget trains the one network.
//
// If NoiseMultiplier is zero in Cluster or in Train, Plan calibrates it to the budget: clustering
// gets the noise at which it alone would cost Cluster.Share of ε, and training the least noise at
// which all stages together cost at most ε. Nonzero noise multipliers are used as given; it is an
// error if they exceed the budget.
type Config struct {
	Schema records.Schema    `json:"-"`
	Budget accountant.Budget `json:"-"`
	// Nominal is the approximate number of records, which must be public. If it is set, fields that
	// are zero get defaults by the rules in the package documentation; otherwise zeros mean what the
	// fields' comments say. The guarantee does not depend on it.
	Nominal int `json:"-"`
	// Features is the space in which records are clustered; nil clusters the encoded
	// records themselves.
	Features rff.FeatureKernel `json:"-"`
	Cluster  kmeans.Config     `json:"cluster"`
	// Marginals are frequencies that are also released; nil for none.
	Marginals *Marginals                 `json:"marginals,omitempty"`
	Model     models.DensityArchitecture `json:"-"`
	Train     sgd.Config                 `json:"train"`
	// Average is the decay, in [0, 1), of a moving average of the released parameters. The average is
	// the result of training; 0 keeps the parameters of the last step.
	Average float64 `json:"average,omitempty"`
	// WarmSteps is the number of steps, each on WarmBatch records, that the networks are trained on
	// the synthetic records of an earlier system before they are trained on the private ones; 0 for
	// none. It requires Follows.
	WarmSteps int `json:"warm_steps,omitempty"`
	WarmBatch int `json:"warm_batch,omitempty"` // 0 means 128
	// Follows says that an earlier system provides synthetic records: the plan can then only be run as
	// the later part of a sequence (see package sequence).
	Follows bool `json:"follows,omitempty"`
	// Seed is the seed of public randomness: frequencies, initial centres and weights.
	Seed uint64 `json:"seed,string"`

	choices defaults.Choices // made by the default rules
}

// Validate reports every mistake in the configuration.
//
// Errors: *param.Error values, joined.
func (c Config) Validate() error {
	c, err := c.chosen()
	if err != nil {
		return err
	}
	var k param.Checker
	k.Add(c.Schema.Validate())
	k.Add(c.Budget.Validate())
	c.checkClustering(&k)
	c.checkMarginals(&k)
	k.Add(c.checkModel())
	train := c.Train
	if train.NoiseMultiplier == 0 {
		train.NoiseMultiplier = 1 // calibrated by Plan; any valid value lets the other fields be checked
	}
	k.Add(train.Validate())
	k.OK(c.Average >= 0 && c.Average < 1, "dpgm.Config.Average", c.Average, "a decay in [0, 1)")
	c.checkWarm(&k)
	return k.Err()
}

func (c Config) checkClustering(k *param.Checker) {
	if c.Cluster.K == 1 {
		c.checkSingle(k)
		return
	}
	cluster := c.Cluster
	if cluster.NoiseMultiplier == 0 {
		k.OK(cluster.Share > 0 && cluster.Share < 1, "kmeans.Config.Share", cluster.Share,
			"the fraction of ε for clustering, between 0 and 1, or a NoiseMultiplier")
		cluster = cluster.WithNoise(1)
	} else {
		k.OK(cluster.Share == 0, "kmeans.Config.Share", cluster.Share,
			"zero if NoiseMultiplier is given")
	}
	k.Add(cluster.Validate())
	if c.Features != nil && c.Schema.Validate() == nil {
		_, err := c.Features.Features(layout(c.Schema), c.Seed)
		k.Add(err)
	}
}

func (c Config) checkSingle(k *param.Checker) {
	k.OK(c.Features == nil, "dpgm.Config.Features", fmt.Sprintf("%T", c.Features),
		"nil: one cluster needs no feature space")
	k.OK(c.Cluster.Share == 0 && c.Cluster.NoiseMultiplier == 0 && c.Cluster.Iterations == 0,
		"kmeans.Config", "K 1", "no Share, NoiseMultiplier or Iterations: one cluster costs nothing")
	k.OK(c.Train.NominalBatch != 0 || c.Train.Optimizer.ScaleFree(), "sgd.Config.NominalBatch", 0.0,
		"a positive public number, the divisor of gradient sums; only Adam works without one")
}

// checkModel builds one network, since a valid architecture may not fit the records. Such an error
// must be found before anything is spent.
func (c Config) checkModel() error {
	if c.Model == nil {
		return param.New("dpgm.Config.Model", nil, "an architecture such as models.VAE")
	}
	if err := network.CheckSize("dpgm.Config.Model", c.Model, c.parameters); err != nil {
		return err
	}
	if err := checkSweeps(c.Model); err != nil {
		return err
	}
	if c.Schema.Validate() != nil {
		return nil // Validate reports it
	}
	net, err := c.Model.New(device.CPU(), visible(c.Schema), c.Seed)
	if err != nil {
		return err
	}
	if _, able := net.(models.MarginalSetter); c.Marginals != nil && !able {
		return param.New("dpgm.Config.Marginals", c.Model.Name(),
			"an architecture whose networks implement models.MarginalSetter, such as models.VAE")
	}
	return nil
}

// mostSweeps bounds the time that sampling one record takes.
const mostSweeps = 1 << 16

// checkSweeps returns an error for Boltzmann machines, in plans and files, with so many sweeps that
// sampling would not end in reasonable time.
func checkSweeps(a models.DensityArchitecture) error {
	var m models.RBM
	switch a := a.(type) {
	case models.RBM:
		m = a
	case *models.RBM:
		m = *a
	}
	var k param.Checker
	const want = "at most 65536 sweeps"
	k.OK(m.Sweeps <= mostSweeps, "models.RBM.Sweeps", m.Sweeps, want)
	k.OK(m.SampleSweeps <= mostSweeps, "models.RBM.SampleSweeps", m.SampleSweeps, want)
	return k.Err()
}

// own returns a copy that shares no list or pointer with the caller, except what pointers of
// user-defined architectures and kernels lead to, and public records.
func (c Config) own() Config {
	if c.Marginals != nil {
		m := *c.Marginals
		c.Marginals = &m
	}
	if c.Cluster.Norm != nil {
		n := *c.Cluster.Norm
		c.Cluster.Norm = &n
	}
	centers := slices.Clone(c.Cluster.Init.Centers)
	for i := range centers {
		centers[i] = slices.Clone(centers[i])
	}
	c.Cluster.Init.Centers = centers
	c.Features, c.Model = network.Own(c.Features), network.Own(c.Model)
	return c
}

// parameters returns the number of parameters of all networks together, or of their state values if
// larger; 0 if the architecture is not a models.DensitySizer.
func (c Config) parameters() int64 {
	n := c.numbers()
	if n > math.MaxInt32 {
		return n
	}
	return n * int64(max(c.Cluster.K, 1))
}

// noise returns the noise multipliers of all stages; 0 stands for one that is still to be
// calibrated.
func (c Config) noise() []float64 {
	all := []float64{c.Train.NoiseMultiplier}
	if c.clustered() {
		all = append(all, c.Cluster.NoiseMultiplier)
	}
	if c.Marginals != nil {
		all = append(all, c.Marginals.NoiseMultiplier)
	}
	return all
}

// numbers returns the number of parameters of one network, or of its state values if larger; 0
// if unknown.
func (c Config) numbers() int64 {
	s, ok := c.Model.(models.DensitySizer)
	if !ok || c.Schema.Validate() != nil {
		return 0
	}
	params, state := s.Size(visible(c.Schema))
	return max(params, state)
}

// clustered reports whether there is a clustering stage.
func (c Config) clustered() bool { return c.Cluster.K > 1 }

// visible describes the encoded records to a network.
func visible(s records.Schema) models.Visible {
	likelihood := models.Bernoulli
	if s.Kind() == records.IntervalVector {
		likelihood = models.GaussianUnit
	}
	v := models.Visible{Dim: s.Dim(), Likelihood: likelihood, Sparse: s.Sparse()}
	for _, b := range s.Blocks() {
		v.Blocks = append(v.Blocks,
			models.Block{Width: b.Width, OneHot: b.OneHot, Missing: !b.OneHot && b.Width == 2})
	}
	return v
}
