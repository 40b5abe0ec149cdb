package dpgm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// Config describes a whole training run. Every field is public.
//
// Cluster.K is the number k of networks. If k is 1, there is no clustering: Features must be nil
// and the other fields of Cluster zero, and no budget is spent on clustering.
//
// If NoiseMultiplier is zero in Cluster or in Train, Plan calibrates it to the budget. Clustering
// gets the noise at which clustering alone would cost the fraction Cluster.Share of ε. Training
// gets the smallest noise at which all stages together cost at most ε. Nonzero noise multipliers
// are used as given, and it is an error if they exceed the budget.
type Config struct {
	Schema records.Schema    `json:"-"`
	Budget accountant.Budget `json:"-"`
	// Nominal is the approximate number of records, which must be public. If Nominal is set, the
	// rules in the package documentation choose every field that is zero. Otherwise the comment of
	// each field states the meaning of zero.
	Nominal int `json:"-"`
	// Features is the space in which records are clustered; nil means the space of encoded records.
	Features rff.FeatureKernel `json:"-"`
	Cluster  kmeans.Config     `json:"cluster"`
	// Marginals describes the release of frequencies before training; nil means no such release.
	Marginals *Marginals                 `json:"marginals,omitempty"`
	Model     models.DensityArchitecture `json:"-"`
	Train     sgd.Config                 `json:"train"`
	// Average is the decay, in [0, 1), of a moving average of the released parameters. The average is
	// the result of training. 0 means that the parameters of the last step are the result.
	Average float64 `json:"average,omitempty"`
	// Seed is the seed of the public randomness, which draws frequencies, initial centres and weights.
	Seed uint64 `json:"seed,string"`

	choices defaults.Choices // made by the default rules
}

// validate reports every mistake in the configuration.
//
// Errors: *param.Error values, joined.
func (c Config) validate() error {
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
	// Another multiplier is valid, so that the other fields can be checked.
	train.NoiseMultiplier = cmp.Or(train.NoiseMultiplier, 1)
	k.Add(train.Validate())
	k.OK(train.Bands <= 1, "sgd.Config.Bands", train.Bands, "0: the noise of steps is independent")
	k.OK(!train.RandomAllocation && !train.Shuffled, "sgd.Config.RandomAllocation", true,
		"false: dpgm draws Poisson samples")
	k.OK(c.Average >= 0 && c.Average < 1, "dpgm.Config.Average", c.Average, "a decay in [0, 1)")
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
		k.OK(cluster.Share == 0, "kmeans.Config.Share", cluster.Share, "zero if NoiseMultiplier is given")
	}
	k.Add(cluster.Validate())
	if c.Schema.Validate() != nil {
		return // validate reports it
	}
	f, err := newFeatures(c)
	if k.Add(err); err != nil {
		return
	}
	k.OK(network.CheckFeatures(records.Limits{}, f) == nil, "dpgm.Config.Features", f.Dim(),
		"fewer features: no file may hold a generator with such a table of frequencies")
	k.OK(cluster.Norm != nil || cluster.ClipNorm != 0 || mechanism.IsClipNorm(f.NormBound()),
		"kmeans.Config.ClipNorm", 0.0, "a clip norm, or a DPNorm in Norm: the records have no norm bound")
}

func (c Config) checkSingle(k *param.Checker) {
	k.OK(c.Features == nil, "dpgm.Config.Features", fmt.Sprintf("%T", c.Features),
		"nil, because one cluster needs no feature space")
	k.OK(c.Cluster.Share == 0 && c.Cluster.NoiseMultiplier == 0 && c.Cluster.Iterations == 0,
		"kmeans.Config", "K 1", "no Share, NoiseMultiplier or Iterations, because there is no clustering")
	k.OK(c.Train.NominalBatch != 0 || c.Train.Optimizer.ScaleFree(), "sgd.Config.NominalBatch", 0.0,
		"a positive public number, the divisor of gradient sums; only Adam works without one")
}

// checkModel builds one network, because a valid architecture may not fit the records. The mistake
// must be found before any budget is spent.
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
		return nil // validate reports it
	}
	net, err := c.Model.New(network.Checking(c.Model), visible(c.Schema), c.Seed)
	if err != nil {
		return err
	}
	if _, able := net.(models.MarginalSetter); c.Marginals != nil && !able {
		return param.New("dpgm.Config.Marginals", c.Model.Name(),
			"an architecture whose networks implement models.MarginalSetter, such as models.VAE")
	}
	return nil
}

// mostSweeps limits the time to sample one record.
const mostSweeps = 1 << 16

// checkSweeps returns an error for Boltzmann machines with so many sweeps that sampling would not
// end in reasonable time. Plans and files are checked.
func checkSweeps(a models.DensityArchitecture) error {
	m := machine(a)
	var k param.Checker
	const want = "at most 65536 sweeps"
	k.OK(m.Sweeps <= mostSweeps, "models.RBM.Sweeps", m.Sweeps, want)
	k.OK(m.SampleSweeps <= mostSweeps, "models.RBM.SampleSweeps", m.SampleSweeps, want)
	return k.Err()
}

// machine returns the description of a Boltzmann machine; it is zero for other architectures.
func machine(a models.DensityArchitecture) (m models.RBM) {
	switch a := a.(type) {
	case models.RBM:
		m = a
	case *models.RBM:
		m = *a
	}
	return m
}

// own returns a copy that shares no slice or pointer with the caller's configuration, except public
// records and what user-defined architectures and kernels point to.
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

// parameters returns the number of parameters of all networks together, or the number of their
// state values if that is larger. It returns 0 if the architecture has no
// method Size.
func (c Config) parameters() int64 {
	n := c.numbers()
	if n > math.MaxInt32 {
		return n
	}
	return n * int64(max(c.Cluster.K, 1))
}

// noise returns the noise multipliers of all stages. A multiplier that has not been calibrated yet
// is 0.
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

// numbers returns the number of parameters of one network, or the number of its state values if
// that is larger. It returns 0 if they are unknown.
func (c Config) numbers() int64 {
	s, ok := c.Model.(sizer)
	if !ok || c.Schema.Validate() != nil {
		return 0
	}
	params, state := s.Size(visible(c.Schema))
	return max(params, state)
}

// fileNumbers is numbers, or what the limits for a file of the model count if that is larger.
func (c Config) fileNumbers() int64 {
	m := machine(c.Model)
	hidden := float64(m.Chains) * float64(m.Hidden) * float64(c.Cluster.K)
	return max(c.numbers(), network.Beyond(hidden, 0), sweepNumbers(m, c.Schema.Dim()))
}

// sweepNumbers returns the time that a machine takes for a record, in parameters of a network. In a
// sweep, drawing a unit takes about as long as the products of 16 parameters. The limit of
// parameters allows 120 products of each.
func sweepNumbers(m models.RBM, dim int) int64 {
	params, _ := m.Size(models.Visible{Dim: dim})
	units := float64(dim) + float64(m.Hidden)
	steps := float64(cmp.Or(m.SampleSweeps, 200)) * (float64(params) + 16*units)
	steps *= float64(min(m.Hidden, 1)) // 0 for another architecture
	return network.Beyond(steps/120, params)
}

// sizer is an architecture that knows the size of its networks.
type sizer interface {
	Size(v models.Visible) (params, state int64)
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
