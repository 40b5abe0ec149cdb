package mix

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// Config describes a release. Every field is public.
type Config struct {
	Schema records.Schema
	Budget accountant.Budget
	// Poisson, PoissonReplaceOne or WithoutReplacement: must have the budget's relation
	Sampling Sampling
	Mixtures int     // T, how many mixtures are released
	ClipNorm float64 // R: longer records are shortened to this norm
	// ByClass makes every mixture of records of one class, Mixtures ÷ classes of each. Classes are
	// disjoint parts of the records: a record is in mixtures of its own class only. Sampling's
	// Degree stays the expected number of records in a mixture if classes are of equal size, so a
	// record is that many times likelier to be drawn. WithoutReplacement is refused: sizes of
	// classes are private.
	ByClass bool
	// Centers, unless zero, mixes deviations from mean records that are released first.
	Centers Centers
	// Projection, unless zero, maps records through a public random matrix first.
	Projection Projection
	// LabelShare is the part of the squared norm of a record that is its label, in (0, 1). A larger
	// one puts less noise on labels and more on features. 0 chooses √(k/d) : 1, which leaves the
	// least noise to a linear learner.
	LabelShare float64
	// Criterion is what a degree that is left open is chosen by.
	Criterion Criterion
	// NoiseMultiplier is the noise's standard deviation divided by the norm of a record with its
	// label, under either relation. 0 lets the plan find the least that fits the budget.
	NoiseMultiplier float64

	// Nominal is a public number of records, about as many as there are. With it everything that is
	// zero is chosen by the rules that the package's documentation states; without it (0) zeros mean
	// what their fields say. The guarantee does not rest on it.
	Nominal int `json:"-"`

	choices defaults.Choices // that were made
}

// Centers describes the release of mean records before the mixtures: one for every class under
// Config.ByClass, otherwise one of all records. The zero value is none.
type Centers struct {
	// Share is the part of ε that the means would cost alone.
	Share float64 `json:"share,omitempty"`
	// NoiseMultiplier is given in place of Share: standard deviation ÷ sensitivity.
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty"`
	// ClipNorm is that of a record's deviation from its mean.
	ClipNorm float64 `json:"clip_norm,omitempty"`
}

func (c Centers) wanted() bool { return c != Centers{} }

// Projection is a public random map to Dim coordinates: the random projection baseline of the
// paper, with the guarantee of records that this package has throughout (the paper's own noise for
// it protects single entries). The records drawn from such a release are vectors, whatever the
// records mixed were. The zero value is none.
type Projection struct {
	Dim  int    `json:"dim,omitempty"`
	Seed uint64 `json:"seed,string,omitempty"`
}

func (p Projection) wanted() bool { return p.Dim != 0 }

// LocalPerturbation is the configuration of the paper's first baseline: mixtures of a single
// record.
func LocalPerturbation(c Config) Config {
	if c.Sampling != nil {
		c.Sampling = c.Sampling.withDegree(1)
	}
	return c
}

// RandomProjection is the configuration of the paper's second baseline: single records, projected
// to dim coordinates.
func RandomProjection(c Config, dim int, seed uint64) Config {
	c = LocalPerturbation(c)
	c.Projection = Projection{Dim: dim, Seed: seed}
	return c
}

// Validate reports every mistake, as joined *param.Error values. Tables and sets of more than 2048
// coordinates or classes, or of more than 2^20 coordinates of all classes together, are refused
// unless they are projected: correlations of so many cannot be estimated. The error names a system
// that takes them.
func (c Config) Validate() error {
	c, err := c.chosen()
	if err != nil {
		return err
	}
	errs := []error{c.Schema.Validate(), c.Budget.Validate()}
	bad := func(ok bool, field string, value any, want string) {
		if !ok {
			errs = append(errs, &param.Error{Path: "mix.Config." + field, Value: value, Want: want})
		}
	}
	bad(c.Mixtures > 0 &&
		c.Mixtures <= maxMixtures, "Mixtures", c.Mixtures, "a positive integer of at most 2^31")
	bad(clippable(c.ClipNorm), "ClipNorm", c.ClipNorm, "a number in [2^-60, 2^60]")
	bad(c.LabelShare >= 0 &&
		c.LabelShare < 1, "LabelShare", c.LabelShare, "a number in [0, 1), 0 for the best")
	bad(c.NoiseMultiplier == 0 || positive(c.NoiseMultiplier), "NoiseMultiplier", c.NoiseMultiplier,
		"a positive finite number, or 0 for the least that fits")
	bad(criterionNames.Known(c.Criterion), "Criterion", int(c.Criterion), "one of the criteria")
	errs = append(errs, c.validateWidth())
	errs = append(errs, c.validateSampling()...)
	errs = append(errs, c.validateCenters()...)
	p := c.Projection
	bad(p == Projection{} || p.Dim > 0 &&
		p.Dim <= 1<<20, "Projection.Dim", p.Dim, "a positive integer of at most 2^20")
	bad(!p.wanted() ||
		!c.Centers.wanted(), "Projection.Dim", p.Dim, "none where deviations from centres are mixed")
	if k := c.Schema.Classes(); c.ByClass {
		bad(k > 1, "ByClass", c.ByClass, "a schema with two classes or more")
		bad(k < 2 || c.Mixtures%k == 0, "Mixtures", c.Mixtures, "a multiple of the number of classes")
	} else if k == 0 {
		bad(c.LabelShare == 0, "LabelShare", c.LabelShare, "0 where records carry no label")
	}
	return errors.Join(errs...)
}

const maxMixtures = math.MaxInt32

// clippable norms are those to which float32 rows can be shortened without a subnormal number
// growing one of them.
func clippable(x float64) bool { return x >= 0x1p-60 && x <= 0x1p60 }

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 0) }

func (c Config) validateSampling() []error {
	s := c.Sampling
	switch s.(type) {
	case Poisson, PoissonReplaceOne, WithoutReplacement:
	default: // none, or a pointer, which may be nil and may change after it was judged
		return []error{mistake("Config.Sampling", fmt.Sprintf("%T", s),
			"Poisson, PoissonReplaceOne or WithoutReplacement, as a value")}
	}
	var errs []error
	path := "mix." + s.kind()
	if s.Relation() != c.Budget.Relation {
		errs = append(errs, mistake("Config.Sampling", s.kind(),
			"one for the budget's relation, "+c.Budget.Relation.String()))
	}
	if _, ok := s.(WithoutReplacement); ok && c.ByClass {
		errs = append(errs, mistake("Config.Sampling", s.kind(),
			"a Poisson sampling: how many records a class has is private"))
	}
	n, degree := s.public()
	if n < 1 || n > math.MaxInt32 {
		return append(errs, &param.Error{Path: path, Value: n,
			Want: "a positive number of records, at most 2^31"})
	}
	if degree < 0 || degree*c.parts() > n {
		errs = append(errs, &param.Error{Path: path + ".Degree", Value: degree,
			Want: "between 1 and the number of records (of a class), or 0"})
	}
	return errs
}

func (c Config) validateCenters() []error {
	m := c.Centers
	if !m.wanted() {
		return nil
	}
	var errs []error
	bad := func(ok bool, field string, value any, want string) {
		if !ok {
			errs = append(errs, &param.Error{Path: "mix.Centers." + field, Value: value, Want: want})
		}
	}
	bad(clippable(m.ClipNorm), "ClipNorm", m.ClipNorm, "a number in [2^-60, 2^60]")
	if m.NoiseMultiplier == 0 {
		bad(m.Share > 0 && m.Share < 1, "Share", m.Share,
			"the part of ε for the means, between 0 and 1, or a NoiseMultiplier")
	} else {
		bad(positive(m.NoiseMultiplier), "NoiseMultiplier", m.NoiseMultiplier, "a positive finite number")
		bad(m.Share == 0, "Share", m.Share, "zero where a NoiseMultiplier is given: one of them decides")
	}
	return errs
}

// parts is the number of disjoint parts that are mixed apart.
func (c Config) parts() int {
	if c.ByClass {
		return max(c.Schema.Classes(), 1)
	}
	return 1
}

// dim is the number of features of a mixture.
func (c Config) dim() int {
	if c.Projection.wanted() {
		return c.Projection.Dim
	}
	return c.Schema.Dim()
}

// labels is how many coordinates of a mixture's label are drawn: all, or the number of records
// where the class is known.
func (c Config) labels() int {
	if c.ByClass {
		return 1
	}
	return c.Schema.Classes()
}

// rate is the probability with which a record is in a mixture of its part.
func (c Config) rate() float64 {
	n, degree := c.Sampling.public()
	return float64(degree*c.parts()) / float64(n)
}

// share is the label's part of the squared norm.
func (c Config) share() float64 {
	switch {
	case c.labels() == 0:
		return 0
	case c.LabelShare == 0:
		return bestLabelShare(c.dim(), c.labels())
	}
	return c.LabelShare
}

// geometry of a mixed record.
func (c Config) geometry() geometry {
	clip := c.ClipNorm
	if c.Centers.wanted() {
		clip = c.Centers.ClipNorm
	}
	lo, _ := c.Schema.Bounds()
	signed := lo < 0 || c.Centers.wanted() || c.Projection.wanted()
	return geometry{clip: clip, label: labelLength(clip, c.share()), nonNegative: !signed}
}

// centerGeometry is that of a record in the release of means: its features beside its count of one.
func (c Config) centerGeometry() geometry {
	lo, _ := c.Schema.Bounds()
	return geometry{clip: c.ClipNorm,
		label:       labelLength(c.ClipNorm, bestLabelShare(c.Schema.Dim(), 1)),
		nonNegative: lo >= 0}
}
