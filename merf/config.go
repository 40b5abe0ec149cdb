package merf

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// Config describes a release and the generator that is trained against it. Every field is public.
type Config struct {
	Schema records.Schema    `json:"-"`
	Budget accountant.Budget `json:"-"`
	// Kernel is the feature map of a record, for example rff.RBF. Its bandwidths must come from the
	// schema, public data or experience, never from the private records. If Kernel is nil, the schema
	// determines it: rff.Pairs for tables that are not too wide, otherwise Gaussian kernels of several
	// length scales (rff.Rule).
	Kernel rff.EmbeddingKernel `json:"-"`
	// Features is the number of random features if Kernel is nil; a positive number selects
	// rff.Rule for any schema.
	Features int `json:"-"`
	// CountShare is the fraction, in (0, 1), of the release's squared effect that class counts use. 0
	// means 1/(1+√d) for d features, and at least 0.01.
	CountShare float64 `json:"count_share,omitempty"`
	// Nominal is a public number of records. If it is set, the rules in the package documentation
	// choose every field that is zero. Under replace-one, Nominal must be the exact number of records.
	// There it is required without classes, because no counts are released; with classes it improves
	// the noisy counts. Under add-or-remove-one the exact number is private, so Nominal is approximate
	// and affects defaults only.
	Nominal int `json:"nominal,omitempty"`
	// NoiseMultiplier is the standard deviation of the noise divided by the sensitivity of the whole
	// release or, with Batches, of each release. 0 means the smallest
	// multiplier that meets the budget.
	NoiseMultiplier float64 `json:"noise_multiplier"`
	// Batches releases the embeddings of many Poisson samples instead of one embedding of all records.
	// The zero value means a single release, which is several times more accurate at the same ε.
	Batches Batches `json:"batches,omitzero"`
	// Seed is the seed of the public randomness that draws the frequencies of features.
	Seed uint64 `json:"seed,string"`
	// Generator describes the generator and its training, which costs no privacy.
	Generator GeneratorConfig `json:"generator"`

	decided bool             // all defaults have been set
	choices defaults.Choices // the choices that the default rules made
	limits  records.Limits   // for files, of a plan that was read
}

// Batches is the paper's variant in which every training step releases the noisy embedding of its
// own mini-batch. Each step samples every record independently, as the accounting assumes.
//
// Suppose that a generator minimises the squared distance to one step's embedding after another.
// Its average gradient is then the gradient of the distance to the average of these embeddings.
// Only the average is therefore kept, and generators are trained against it.
type Batches struct {
	Probability float64 `json:"probability"` // that a record is in a given sample
	Steps       int     `json:"steps"`       // number of samples and releases
}

func (b Batches) none() bool { return b == Batches{} }

// validate returns every mistake, as joined *param.Error values.
func (c Config) validate() error {
	c, err := c.chosen()
	if err != nil {
		return err
	}
	var k param.Checker
	k.Add(c.Schema.Validate())
	k.Add(c.Budget.Validate())
	k.OK(c.CountShare >= 0 && c.CountShare < 1, "merf.Config.CountShare", c.CountShare,
		"a fraction in (0, 1), or 0 for the default")
	k.OK(c.NoiseMultiplier == 0 || mechanism.IsNoiseMultiplier(c.NoiseMultiplier),
		"merf.Config.NoiseMultiplier", c.NoiseMultiplier,
		"a positive number, at most 2^24, or 0 to calibrate it")
	c.validateSize(&k)
	if b := c.Batches; !b.none() {
		k.OK(b.Probability > 0 && b.Probability < 1, "merf.Batches.Probability", b.Probability,
			"a probability in (0, 1)")
		k.OK(b.Steps > 0, "merf.Batches.Steps", b.Steps, "a positive integer")
	}
	c.validateKernel(&k)
	c.validateGenerator(&k)
	return k.Err()
}

func (c Config) validateSize(k *param.Checker) {
	if c.Budget.Relation == accountant.AddOrRemoveOne {
		return
	}
	k.OK(c.Nominal >= 0, "merf.Config.Nominal", c.Nominal,
		"the public number of records, or 0 if there are classes")
	k.OK(c.Nominal != 0 || c.Schema.Classes() > 1, "merf.Config.Nominal", c.Nominal,
		"the public number of records: under replace-one without classes no count is released")
}

// validateKernel draws the features, because a valid kernel may not fit the records. The mistake
// must be found before any budget is spent.
func (c Config) validateKernel(k *param.Checker) {
	k.OK(c.Features >= 0, "merf.Config.Features", c.Features, "a number of features, or 0")
	k.OK(c.Features == 0 || c.Kernel == nil, "merf.Config.Features", c.Features,
		"0 if a Kernel is given, which has its own number of features")
	if c.Schema.Validate() != nil || c.Features < 0 {
		return // validate reports it separately
	}
	e, err := c.features()
	if limit := new(records.LimitError); errors.As(err, &limit) {
		err = param.New("merf.Config.Kernel", limit.What,
			"fewer features or columns in pairs: no file may hold so many")
	}
	if err != nil {
		k.Add(err)
		return
	}
	path := fmt.Sprintf("merf.Config.Kernel (%T)", c.kernel())
	b := c.bounds(e)
	k.OK(e.In() == c.Schema.Dim(), path, e.In(),
		fmt.Sprintf("features of records of %d coordinates", c.Schema.Dim()))
	k.OK(b.dim > 0 && b.dim <= maxSums/classesOf(c.Schema), path, b.dim,
		fmt.Sprintf("a number of features that, times classes, is at most %d", maxSums))
	k.OK(b.norm >= 0x1p-40 && b.norm <= 0x1p40, path, b.norm,
		"a bound on the features' norm, from 2^-40 to 2^40")
	k.OK(b.change > 0 && b.change <= 2*b.norm*(1+1e-9), path, b.change,
		"a bound on the features' change, positive and at most twice the bound on the norm")
}

// validateGenerator checks the network too, because a valid architecture may not fit the records.
func (c Config) validateGenerator(k *param.Checker) {
	if err := c.Generator.Validate(); err != nil {
		k.Add(err)
		return
	}
	if c.Schema.Validate() != nil {
		return // validate reports it separately
	}
	_, err := c.Generator.withDefaults().network(nil, c.Schema)
	k.Add(err)
}

// maxSums is the largest number of released sums: classes × features.
const maxSums = 1 << 28

// defaultFeatures is the paper's number of random features. Records with few coordinates need
// fewer.
const defaultFeatures = 10_000

// kernel returns the caller's kernel or, if it is nil, a kernel that suits the schema.
func (c Config) kernel() rff.EmbeddingKernel {
	if c.Kernel != nil {
		return c.Kernel
	}
	if c.Features == 0 && c.Schema.Kind() == records.MixedTable {
		if _, err := (rff.Pairs{}).Embedding(layout(c.Schema), c.Seed); err == nil {
			return rff.Pairs{}
		}
	}
	return rff.Rule(cmp.Or(c.Features, c.mostFeatures()), c.Schema.Dim())
}

// mostFeatures returns the largest default number of features. The table of their frequencies
// stays within the limits for files.
func (c Config) mostFeatures() int {
	dim := max(c.Schema.Dim(), 1)
	most := min(defaultFeatures, max(featuresOfDim*dim, leastFeatures))
	return max(min(most, 2*(network.MostTable/dim)), 2)
}

// features returns the feature map, which draws its table on first use.
func (c Config) features() (rff.Embedding, error) {
	return network.Embedding(c.limits, c.kernel(), c.Schema, layout(c.Schema), c.Seed)
}

// bounds returns the bounds on the features and the largest number of rows of one person.
func (c Config) bounds(e rff.Embedding) bounds {
	return bounds{norm: e.NormBound(), change: e.ChangeBound(), dim: e.Dim(),
		rows: c.Schema.RowsPerPerson()}
}

// stage returns the stage of the release with the given noise multiplier: one release of all
// records, or the releases of Batches.
func (c Config) stage(z float64) synth.Stage {
	s := synth.Stage{Purpose: PurposeEmbed, Event: accountant.Gaussian{NoiseMultiplier: z}, Count: 1,
		NoiseMultiplier: z, Once: true}
	if b := c.Batches; !b.none() {
		s.Event = accountant.PoissonSampled{Probability: b.Probability, Event: s.Event}
		s.Count, s.Once = b.Steps, false
	}
	return s
}

func (c Config) noise(e rff.Embedding) noise {
	b := c.bounds(e)
	share := cmp.Or(c.CountShare, defaultCountShare(b.dim))
	return spread(c.Budget.Relation, b, classesOf(c.Schema), c.NoiseMultiplier, share)
}
