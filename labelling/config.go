package labelling

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/records/retouch"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// Config describes a labelling: another system and a private classifier of its synthetic records.
// Every field is public.
type Config struct {
	// Budget is the budget of the other system and the classifier together.
	Budget accountant.Budget
	// Of is the other system's plan with its own budget. Within finds this budget. The system's
	// synthetic records must have labels.
	Of synth.Plan
	// Features computes the classifier's inputs from a record; nil means rff.Scattering, which
	// describes images.
	Features rff.FeatureKernel
	// Train sets how the classifier is trained. Its zero value means the default, which needs Nominal:
	// DefaultSteps steps with momentum 0.9 on a quarter of the records each. A NoiseMultiplier of 0
	// means the smallest noise that Share allows.
	Train sgd.Config
	// Share is the part of ε that the classifier alone may cost, in (0, 1); 0 means DefaultShare. It
	// is not used if Train has a NoiseMultiplier.
	Share float64
	// Nominal is the approximate number of records, which must be public. It divides the classifier's
	// sums of gradients.
	Nominal int
	// Rule is how the classifier is used; Keep by default.
	Rule Rule
	// Contrast stretches the grey levels of the synthetic images before the classifier sees them.
	// Networks generate images that are less black and white than real ones. The drawn images are
	// not stretched. The zero value means DefaultContrast for grey images, and
	// retouch.Contrast{White: 1} changes nothing.
	Contrast retouch.Contrast
	// Margin is used by the rule Keep. The classifier's probability of a record's own label must
	// exceed the probability of every other class by Margin, in [0, 1). The default 0 accepts the
	// records to which the classifier gives their own label.
	Margin float64
	// Tries bounds the number of records that the rule Keep generates for each returned record; 0
	// means DefaultTries. In draws of one class by the rule Relabel, the bound is Tries times the
	// number of classes.
	Tries int
	// Seed is the seed of the features and of the classifier's initial weights.
	Seed uint64
}

// DefaultContrast was chosen on drawn digits.
var DefaultContrast = retouch.Contrast{Black: 0.2, White: 0.8}

// Defaults; docs/studies/tables-and-digits.md has the measurements.
const (
	DefaultSteps = 60
	DefaultShare = 0.7
	DefaultTries = 20
)

// The default training of the classifier.
const (
	usualClip        = 0.1
	usualProbability = 0.25
	usualRate        = 400
	usualMomentum    = 0.9
)

const (
	mostTries    = 1000
	mostFeatures = 1 << 20
	mostNumbers  = 1 << 26 // of the classifier
)

func (c Config) withDefaults() Config {
	c.Share, c.Tries = cmp.Or(c.Share, DefaultShare), cmp.Or(c.Tries, DefaultTries)
	if c.Features == nil {
		c.Features = rff.Scattering{}
	}
	t := &c.Train
	if t.Steps == 0 && t.ClipNorm == 0 && t.Clip == nil && t.SamplingProbability == 0 {
		t.Steps, t.ClipNorm, t.SamplingProbability = DefaultSteps, usualClip, usualProbability
		if reflect.ValueOf(t.Optimizer).IsZero() {
			t.Optimizer = sgd.Momentum(usualRate, usualMomentum)
		}
	}
	if t.NominalBatch == 0 {
		t.NominalBatch = t.SamplingProbability * float64(c.Nominal)
	}
	return c
}

// described returns a schema in words, which state a lack of classes.
func described(s records.Schema) string {
	if s.Classes() == 0 {
		return s.String() + " without classes"
	}
	return s.String()
}

// Validate reports every mistake, as joined *param.Error values.
func (c Config) Validate() error {
	c = c.withDefaults()
	var k param.Checker
	c.check(&k)
	k.OK(synth.WorkOf(c.Of) != nil, "labelling.Config.Of", nil,
		"a plan that embeds a synth.Program, as plans of all systems do")
	if c.Of != nil {
		k.OK(!slices.Contains([]string{systemName, "augment", "tune"}, c.Of.System()),
			"labelling.Config.Of", c.Of.System(), "a plan of one system, such as merf, gan or mix")
	}
	if k.Err() != nil {
		return k.Err()
	}
	s := c.Of.Schema()
	c.checkRule(&k, "labelling.Config.", s)
	k.Add(records.RefusePersons("labelling.Config.Of.Schema", s))
	k.OK(c.Of.Budget().Relation == c.Budget.Relation, "labelling.Config.Of.Budget.Relation",
		c.Of.Budget().Relation, "the labelling's relation, "+c.Budget.Relation.String())
	released := synth.Inner{Plan: c.Of}.Releases()
	k.OK(s.Classes() > 1, "labelling.Config.Of.Schema", described(s),
		"records of two classes or more")
	k.OK(released.Equal(s), "labelling.Config.Of", released,
		"a system whose synthetic records have its own schema, labels included: "+
			records.Difference(released, s))
	if k.Err() == nil {
		k.Add(c.checkFeatures(s))
	}
	return k.Err()
}

// check makes the checks that need no plan.
func (c Config) check(k *param.Checker) {
	k.Add(c.Budget.Validate())
	k.OK(c.Share > 0 && c.Share < 1, "labelling.Config.Share", c.Share,
		"a part of ε in (0, 1), or 0 for the default")
	k.OK(c.Nominal >= 0, "labelling.Config.Nominal", c.Nominal, "a public number of records")
	k.OK(c.Train.NominalBatch > 0, "labelling.Config.Nominal", c.Nominal,
		"an approximate public number of records, or Train.NominalBatch")
	k.OK(c.Tries > 0 && c.Tries <= mostTries, "labelling.Config.Tries", c.Tries,
		fmt.Sprintf("a positive number up to %d, or 0 for the default", mostTries))
	train := c.Train
	train.NoiseMultiplier = cmp.Or(train.NoiseMultiplier, 1)
	k.Add(train.Validate())
}

// checkRule checks the rule, the margin and the contrast for records of a schema.
func (c Config) checkRule(k *param.Checker, path string, s records.Schema) {
	k.OK(ruleNames.Known(c.Rule), path+"Rule", int(c.Rule), "Keep or Relabel")
	k.OK(c.Margin >= 0 && c.Margin < 1, path+"Margin", c.Margin, "a number in [0, 1)")
	k.OK(c.Margin == 0 || c.Rule == Keep, path+"Margin", c.Margin, "0 unless the rule is Keep")
	if (c.Contrast != retouch.Contrast{}) {
		k.Add(c.Contrast.Validate())
		k.OK(s.Kind() == records.GreyImage, path+"Contrast", c.Contrast,
			"no contrast for records that are not grey images")
	}
}

// contrast returns the contrast for grey images.
func (c Config) contrast() retouch.Contrast {
	if (c.Contrast == retouch.Contrast{}) {
		return DefaultContrast
	}
	return c.Contrast
}

// checkFeatures draws the features, since a valid kernel may not fit the records.
func (c Config) checkFeatures(s records.Schema) error {
	f, err := c.features(s)
	if err != nil {
		return fmt.Errorf("labelling.Config.Features: %w", err)
	}
	if _, err := rff.MarshalFeatures(c.Features); err != nil { // a generator could not be saved
		return param.New("labelling.Config.Features", err.Error(), "features of package rff")
	}
	var k param.Checker
	path := fmt.Sprintf("labelling.Config.Features (%T)", c.Features)
	k.OK(f.In() == s.Dim(), path, f.In(),
		fmt.Sprintf("features of records of %d coordinates", s.Dim()))
	k.OK(f.Dim() > 0 && f.Dim() <= min(mostFeatures, mostNumbers/s.Classes()), path, f.Dim(),
		fmt.Sprintf("a number of features up to %d", min(mostFeatures, mostNumbers/s.Classes())))
	k.OK(f.NormBound() > 0 && !math.IsInf(f.NormBound(), 0), path, f.NormBound(),
		"features of a bounded norm")
	return k.Err()
}

// features draws the feature map.
func (c Config) features(s records.Schema) (rff.Features, error) {
	l := rff.Layout{In: s.Dim()}
	if s.IsImage() {
		l.Height, l.Width = s.Height(), s.Width()
	}
	return c.Features.Features(l, c.Seed)
}

// calibrated returns the configuration with the classifier's noise.
func (c Config) calibrated() (Config, error) {
	if c.Train.NoiseMultiplier != 0 {
		return c, nil
	}
	z, _, err := accountant.CalibrateShare(c.Budget, c.Share, func(z float64) accountant.Event {
		c := c
		c.Train.NoiseMultiplier = z
		return c.stage().Whole()
	})
	if err != nil {
		return c, fmt.Errorf("labelling: noise of the classifier: %w", err)
	}
	c.Train.NoiseMultiplier = z
	return c, c.Train.Validate()
}

// Within returns the configuration with Of planned for the largest budget that the classifier
// leaves, to within half a per cent of the whole budget. The function plan returns the other
// system's plan for a budget with the labelling's δ and relation.
//
// Errors: all errors of plan and of Validate; accountant.ErrBudgetExceeded if the classifier leaves
// less than a hundredth of the budget, measured as in synth.Within.
func (c Config) Within(plan func(accountant.Budget) (synth.Plan, error)) (Config, error) {
	c = c.withDefaults()
	var k param.Checker
	c.check(&k)
	k.OK(plan != nil, "labelling.Config.Within.plan", nil, "a function")
	if k.Err() != nil {
		return c, k.Err()
	}
	c, err := c.calibrated()
	if err != nil {
		return c, err
	}
	c.Of, err = synth.Within(c.Budget, c.stage().Whole(),
		func(b accountant.Budget) (synth.Plan, error) {
			p, err := plan(b)
			if err != nil {
				return nil, err
			}
			own := c
			own.Of = p
			return p, own.Validate()
		})
	if err != nil {
		return c, fmt.Errorf("labelling: beside the classifier: %w", err)
	}
	return c, nil
}

// PurposeClassifier is the purpose of the classifier's steps on the ledger.
const PurposeClassifier = "classifier step"

// stage returns the stage of the classifier's training.
func (c Config) stage() synth.Stage {
	t := c.Train
	return synth.Stage{Purpose: PurposeClassifier, Event: t.Event(c.Budget.Relation), Count: t.Steps,
		NoiseMultiplier: t.NoiseMultiplier}
}

// inner returns the other system as a part of the run.
func (c Config) inner() synth.Inner {
	return synth.Inner{Plan: c.Of, Prefix: c.Of.System() + ": "}
}

// stages returns the stages of the classifier and of the other system.
func (c Config) stages() []synth.Stage {
	return append([]synth.Stage{c.stage()}, c.inner().Stages()...)
}
