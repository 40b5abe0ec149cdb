package mix

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// Config describes a release. Every field is public.
type Config struct {
	Schema records.Schema    `json:"-"`
	Budget accountant.Budget `json:"-"`
	// Sampling is a Poisson, PoissonReplaceOne or WithoutReplacement. Its neighbouring relation must
	// be the budget's.
	Sampling Sampling `json:"-"`
	Mixtures int      `json:"mixtures"`  // T, the number of mixtures
	ClipNorm float64  `json:"clip_norm"` // R: longer records are scaled to this norm
	// ByClass makes every mixture from records of one class, with the same number of mixtures for each
	// class. A record can only be in mixtures of its own class. The probability of drawing a record is
	// multiplied by the number of classes. If all classes have the same size, the expected number of
	// records in a mixture is therefore still Sampling's Degree. WithoutReplacement is an error,
	// because class sizes are private.
	ByClass bool `json:"by_class,omitempty"`
	// Centers, if not zero, releases mean records first and then mixes the deviations of records from
	// these means.
	Centers Centers `json:"centers,omitzero"`
	// Projection, if not zero, multiplies records by a public random matrix before they are mixed.
	Projection Projection `json:"projection,omitzero"`
	// LabelShare is the label's fraction of the squared norm of a record, in (0, 1). A larger
	// fraction gives labels less noise and features more. 0 means that the squared norms of label
	// and features have the ratio √(k/d) : 1 for k classes and d features. This ratio gives a
	// linear learner the least noise.
	LabelShare float64 `json:"label_share"`
	// NoiseMultiplier is the standard deviation of the noise divided by the largest norm of a
	// record with its label. This holds under both relations. 0 means the smallest multiplier that
	// meets the budget.
	NoiseMultiplier float64 `json:"noise_multiplier"`

	// Nominal is the approximate number of records, which must be public. If Nominal is set, the
	// rules in the package documentation choose every field that is zero. Otherwise the comment of
	// each field states the meaning of zero.
	Nominal int `json:"-"`

	choices defaults.Choices // made by the default rules
}

// Centers describes the release of mean records before the mixtures: one mean for every class with
// Config.ByClass, otherwise one mean of all records. The zero value means that no mean records are
// released.
type Centers struct {
	// Share is the cost of releasing only the means, as a fraction of the budget's ε.
	Share float64 `json:"share,omitempty"`
	// NoiseMultiplier is the standard deviation of the noise divided by the sensitivity. It can be
	// given instead of Share.
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty"`
	// ClipNorm is the clip norm of a record's deviation from its mean.
	ClipNorm float64 `json:"clip_norm,omitempty"`
}

func (c Centers) wanted() bool { return c != Centers{} }

// Projection is a public random map to Dim coordinates: with mixtures of degree 1, the second
// baseline of the paper. Mixtures of degree 1 alone are its first. This package's guarantee covers
// whole records; the paper's noise protects single entries only. Records drawn from such a release
// are vectors for every kind of mixed records. The zero value means no projection.
type Projection struct {
	Dim  int    `json:"dim,omitempty"`
	Seed uint64 `json:"seed,string,omitempty"`
}

func (p Projection) wanted() bool { return p.Dim != 0 }

// validate reports every mistake in the configuration. Tables and sets are refused, because a
// mixture of rows is not a row and a mixture of sets is not a set.
//
// Errors: *param.Error values, joined.
func (c Config) validate() error {
	c, err := c.chosen()
	if err != nil {
		return err
	}
	const path = "mix.Config."
	var k param.Checker
	k.Add(c.Schema.Validate())
	k.Add(c.Budget.Validate())
	k.OK(c.Mixtures > 0 && c.Mixtures <= maxMixtures, path+"Mixtures", c.Mixtures,
		"an integer from 1 to 2^31-1")
	k.OK(clippable(c.ClipNorm), path+"ClipNorm", c.ClipNorm, "a number in [2^-60, 2^60]")
	k.OK(c.LabelShare >= 0 && c.LabelShare < 1, path+"LabelShare", c.LabelShare,
		"a number in [0, 1), 0 for the default")
	k.OK(c.NoiseMultiplier == 0 || mechanism.IsNoiseMultiplier(c.NoiseMultiplier),
		path+"NoiseMultiplier", c.NoiseMultiplier,
		"a positive number, at most 2^24, or 0 to calibrate it")
	kind := c.Schema.Kind()
	k.OK(kind != records.MixedTable && kind != records.ItemSet, path+"Schema", c.Schema.String(),
		"vectors or images; packages merf, tables and sets have systems for these")
	c.validateSampling(&k)
	c.Centers.validate(&k)
	p := c.Projection
	k.OK(p == Projection{} || p.Dim > 0 && p.Dim <= 1<<20, path+"Projection.Dim", p.Dim,
		"a positive integer of at most 2^20")
	k.OK(!p.wanted() || !c.Centers.wanted(), path+"Projection.Dim", p.Dim, "zero if Centers is set")
	k.OK(!c.ByClass || c.Schema.RowsPerPerson() == 0, path+"ByClass", c.ByClass,
		"false if a person may have several rows, which may be of several classes")
	if n := c.Schema.Classes(); c.ByClass {
		k.OK(n > 1, path+"ByClass", c.ByClass, "false, unless the schema has at least two classes")
		k.OK(n < 2 || c.Mixtures%n == 0, path+"Mixtures", c.Mixtures,
			"a multiple of the number of classes")
	} else {
		k.OK(n > 0 || c.LabelShare == 0, path+"LabelShare", c.LabelShare, "0 if records have no labels")
	}
	return k.Err()
}

const maxMixtures = math.MaxInt32

// clippable reports whether float32 rows can be clipped to norm x: rounding to subnormal numbers
// must not make a row longer.
func clippable(x float64) bool { return x >= 0x1p-60 && x <= 0x1p60 }

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 0) }

func (c Config) validateSampling(k *param.Checker) {
	const path = "mix.Config.Sampling"
	s := c.Sampling
	switch s.(type) {
	case Poisson, PoissonReplaceOne, WithoutReplacement:
	case nil:
		k.OK(false, path, nil, "a Poisson, PoissonReplaceOne or WithoutReplacement value")
		return
	default: // a pointer, which may be nil or change after validation
		k.OK(false, path, fmt.Sprintf("%T", s),
			"a Poisson, PoissonReplaceOne or WithoutReplacement value, not a pointer")
		return
	}
	k.OK(s.Relation() == c.Budget.Relation, path, s.kind(),
		"a sampling whose relation is the budget's, "+c.Budget.Relation.String())
	_, subsets := s.(WithoutReplacement)
	k.OK(!subsets || !c.ByClass, path, s.kind(),
		"a Poisson sampling with ByClass: class sizes are private")
	n, degree := s.public()
	sized := n >= 1 && n <= math.MaxInt32
	k.OK(sized, "mix."+s.kind()+"."+s.sizeField(), n, "a number of records from 1 to 2^31-1")
	k.OK(!sized || degree >= 0 && degree <= n/c.parts(), "mix."+s.kind()+".Degree", degree,
		"from 1 to the number of records (divided by the number of classes with ByClass), or 0 to choose it")
}

func (m Centers) validate(k *param.Checker) {
	const path = "mix.Centers."
	if !m.wanted() {
		return
	}
	k.OK(clippable(m.ClipNorm), path+"ClipNorm", m.ClipNorm, "a number in [2^-60, 2^60]")
	if m.NoiseMultiplier == 0 {
		k.OK(m.Share > 0 && m.Share < 1, path+"Share", m.Share,
			"the fraction of ε for the means, between 0 and 1, or a NoiseMultiplier")
		return
	}
	k.OK(mechanism.IsNoiseMultiplier(m.NoiseMultiplier), path+"NoiseMultiplier", m.NoiseMultiplier,
		"a positive number, at most 2^24")
	k.OK(m.Share == 0, path+"Share", m.Share, "zero if NoiseMultiplier is given")
}

// parts returns the number of disjoint parts that are mixed separately.
func (c Config) parts() int {
	if c.ByClass {
		return max(c.Schema.Classes(), 1)
	}
	return 1
}

// dim returns the number of features of a mixture.
func (c Config) dim() int {
	if c.Projection.wanted() {
		return c.Projection.Dim
	}
	return c.Schema.Dim()
}

// labels returns the number of noisy label coordinates of a mixture: one for each class, or with
// ByClass only one, which counts the records.
func (c Config) labels() int {
	if c.ByClass {
		return 1
	}
	return c.Schema.Classes()
}

// degree returns ℓ, or 0 if the plan is to choose it.
func (c Config) degree() int {
	_, degree := c.Sampling.public()
	return degree
}

// rate returns the probability that a record is drawn for a mixture of its part.
func (c Config) rate() float64 {
	n, degree := c.Sampling.public()
	return float64(degree*c.parts()) / float64(n)
}

// share returns the label's fraction of the squared norm.
func (c Config) share() float64 {
	switch {
	case c.labels() == 0:
		return 0
	case c.LabelShare == 0:
		return bestLabelShare(c.dim(), c.labels())
	}
	return c.LabelShare
}

// geometry returns the geometry of a mixed record.
func (c Config) geometry() geometry {
	clip := c.ClipNorm
	if c.Centers.wanted() {
		clip = c.Centers.ClipNorm
	}
	lo, _ := c.Schema.Bounds()
	signed := lo < 0 || c.Centers.wanted() || c.Projection.wanted()
	return geometry{clip: clip, label: labelLength(clip, c.share()), nonNegative: !signed}
}

// centerGeometry returns the geometry of a record in the release of means: its features together
// with its count of one.
func (c Config) centerGeometry() geometry {
	lo, _ := c.Schema.Bounds()
	return geometry{clip: c.ClipNorm,
		label:       labelLength(c.ClipNorm, bestLabelShare(c.Schema.Dim(), 1)),
		nonNegative: lo >= 0}
}
