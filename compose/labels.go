package compose

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// Labels uses a private classifier to choose among the synthetic records of a system.
//
// The classifier is a linear function of fixed public features, such as [rff.Scattering] of images,
// and is trained by package sgd. The part, for example of package merf, gan or mix, draws records
// with labels. The records to which the classifier gives their own label are kept, and the other
// records are replaced by newly generated ones. This leaves out blends of two classes and records
// with a wrong label. The class proportions of the part apply.
//
// Guarantee: neither the classifier nor the part uses the result of the other. The classifier is
// released, so using it any number of times costs no privacy.
//
// Every draw ends, because Tries bounds the number of records generated for each returned record.
// If none of them is accepted, the draw takes the record for whose label the classifier has the
// largest margin. The option [synth.OnAccepted] reports the number of these records at the end of a
// draw. It is computed from released values, so it is public. [Agreement] states, for every class,
// the fraction of records that are accepted at the first try.
//
// Source: Tramèr and Boneh 2021 for the classifier.
type Labels struct {
	// Of is the system whose records the classifier sees. Its synthetic records must have labels.
	Of synth.Design
	// Features computes the classifier's inputs from a record; nil means rff.Scattering, which
	// describes images.
	Features rff.FeatureKernel
	// Train sets how the classifier is trained. Its zero value means the default, which needs Nominal:
	// 200 steps with momentum 0.9 on a quarter of the records each. A NoiseMultiplier of 0
	// means the smallest noise that Share allows.
	Train sgd.Config
	// Share is the part of ε that the classifier alone may cost, in (0, 1); 0 means 0.7. It
	// is not used if Train has a NoiseMultiplier.
	Share float64
	// Nominal is the approximate number of records, which must be public. It divides the classifier's
	// sums of gradients.
	Nominal int
	// Contrast stretches the grey levels of the synthetic images before the classifier sees them.
	// Networks generate images that are less black and white than real ones. The drawn images are
	// not stretched. The zero value means DefaultContrast for grey images, and
	// Contrast{White: 1} changes nothing.
	Contrast Contrast
	// Margin, in [0, 1), is the least difference between the classifier's probability of a kept
	// record's own label and that of every other class. The default 0 accepts the records to which
	// the classifier gives their own label.
	Margin float64
	// Tries bounds the number of records that are generated for each returned record; 0 means 20.
	Tries int
	// Seed is the seed of the features and of the classifier's initial weights.
	Seed uint64

	limits records.Limits // for files, of labels that were read
}

// DefaultContrast was chosen on drawn digits.
var DefaultContrast = Contrast{Black: 0.2, White: 0.8}

// Defaults; docs/studies/tables-and-digits.md has the measurements.
const (
	labelSteps   = 200
	labelAverage = 0.9 // decay of the average of parameters, which is released
	labelsShare  = 0.7
	usualTries   = 20
)

// The default training of the classifier.
const (
	usualClip        = 0.1
	usualProbability = 0.25
	usualRate        = 200
	usualMomentum    = 0.9
)

const (
	mostTries    = 1000
	mostFeatures = 1 << 20
	mostLinear   = 1 << 26 // of the classifier
)

func labelsKind() kind {
	return kind{name: "labels", config: "compose.Labels", of: "Of", level: chooseLevel, least: 1,
		most: 1, networks: 1, design: readLabels, release: readLabelled}
}

// PlanFor finds the classifier's noise and the budget of the part, and prices both together. It
// reads no records.
//
// Errors: joined *param.Error values, one for each mistake; all errors of Of;
// accountant.ErrBudgetExceeded if the classifier leaves too little.
func (c Labels) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c = c.withDefaults()
	of := []synth.Design{c.Of}
	k := labelsKind().begin(s, b, of)
	c.check(&k)
	c.checkAcceptance(&k, "compose.Labels.", s)
	k.OK(s.Classes() > 1, "compose.Labels.PlanFor.s", described(s), "records of two classes or more")
	if err := k.Err(); err != nil {
		return nil, err
	}
	_, err := c.checkedFeatures(s)
	if limit := new(records.LimitError); errors.As(err, &limit) {
		err = param.New("compose.Labels.Tries", c.Tries,
			"fewer tries or features, since no file may describe so many: "+limit.What)
	}
	if err != nil {
		return nil, err
	}
	c, err = c.calibrated(b)
	if err != nil {
		return nil, err
	}
	c.Of, c.Features, c.Train.Clip = nil, network.Own(c.Features), network.Own(c.Train.Clip)
	return planOf(labelling{c, s, b.Relation}, s, b, of)
}

func (c Labels) withDefaults() Labels {
	c.Share, c.Tries = cmp.Or(c.Share, labelsShare), cmp.Or(c.Tries, usualTries)
	if c.Features == nil {
		c.Features = rff.Scattering{}
	}
	t := &c.Train
	if t.Steps == 0 && t.ClipNorm == 0 && t.Clip == nil && t.SamplingProbability == 0 {
		t.Steps, t.ClipNorm, t.SamplingProbability = labelSteps, usualClip, usualProbability
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

// check checks the settings that do not depend on the records.
func (c Labels) check(k *param.Checker) {
	k.OK(c.Share > 0 && c.Share < 1, "compose.Labels.Share", c.Share,
		"a part of ε in (0, 1), or 0 for the default")
	k.OK(c.Nominal >= 0, "compose.Labels.Nominal", c.Nominal, "a public number of records")
	k.OK(c.Train.NominalBatch > 0, "compose.Labels.Nominal", c.Nominal,
		"an approximate public number of records, or Train.NominalBatch")
	k.OK(c.Train.Bands <= 1, "sgd.Config.Bands", c.Train.Bands, "0: the noise of steps is independent")
	k.OK(c.Tries > 0 && c.Tries <= mostTries, "compose.Labels.Tries", c.Tries,
		fmt.Sprintf("a positive number up to %d, or 0 for the default", mostTries))
	train := c.Train
	train.NoiseMultiplier = cmp.Or(train.NoiseMultiplier, 1)
	k.Add(train.Validate())
	k.OK(!train.RandomAllocation && !train.Shuffled, "sgd.Config.RandomAllocation", true,
		"false: compose draws Poisson samples")
}

// checkAcceptance checks the margin and the contrast for records of a schema.
func (c Labels) checkAcceptance(k *param.Checker, path string, s records.Schema) {
	k.OK(c.Margin >= 0 && c.Margin < 1, path+"Margin", c.Margin, "a number in [0, 1)")
	if (c.Contrast != Contrast{}) {
		k.Add(c.Contrast.validate())
		k.OK(s.Kind() == records.GreyImage, path+"Contrast", c.Contrast,
			"no contrast for records that are not grey images")
	}
}

// contrast returns the contrast for grey images.
func (c Labels) contrast() Contrast {
	if (c.Contrast == Contrast{}) {
		return DefaultContrast
	}
	return c.Contrast
}

// checkedFeatures draws the features, since a valid kernel may not fit the records. What no file
// may describe is refused in a plan too, because a paid generator must be readable.
//
// Errors: *param.Error; synth.ErrFormat, with a *records.LimitError.
func (c Labels) checkedFeatures(s records.Schema) (rff.Features, error) {
	f, err := c.features(s)
	if err != nil {
		return nil, fmt.Errorf("compose.Labels.Features: %w", err)
	}
	if _, err := rff.MarshalFeatures(c.Features); err != nil { // a generator could not be saved
		return nil, param.New("compose.Labels.Features", err.Error(), "features of package rff")
	}
	var k param.Checker
	path := fmt.Sprintf("compose.Labels.Features (%T)", c.Features)
	k.OK(f.In() == s.Dim(), path, f.In(),
		fmt.Sprintf("features of records of %d coordinates", s.Dim()))
	k.OK(f.Dim() > 0 && f.Dim() <= min(mostFeatures, mostLinear/s.Classes()), path, f.Dim(),
		fmt.Sprintf("a number of features up to %d", min(mostFeatures, mostLinear/s.Classes())))
	k.OK(f.NormBound() > 0 && !math.IsInf(f.NormBound(), 0), path, f.NormBound(),
		"features of a bounded norm")
	if err := k.Err(); err != nil {
		return nil, err
	}
	return f, c.checkCost(f, s)
}

// features draws the feature map.
func (c Labels) features(s records.Schema) (rff.Features, error) {
	l := rff.Layout{In: s.Dim()}
	if s.IsImage() {
		l.Height, l.Width = s.Height(), s.Width()
	}
	return c.Features.Features(l, c.Seed)
}

// calibrated returns the configuration with the classifier's noise.
func (c Labels) calibrated(b accountant.Budget) (Labels, error) {
	if c.Train.NoiseMultiplier != 0 {
		return c, nil
	}
	z, _, err := accountant.CalibrateShare(b, c.Share, func(z float64) accountant.Event {
		c := c
		c.Train.NoiseMultiplier = z
		return c.stage(b.Relation).Whole()
	})
	if err != nil {
		return c, fmt.Errorf("labels: noise of the classifier: %w", err)
	}
	c.Train.NoiseMultiplier = z
	return c, c.Train.Validate()
}

// A labelling is a composition of labels, for records of a schema.
type labelling struct {
	Labels   // without Of: a design may hold public records and scratch memory
	schema   records.Schema
	relation accountant.Relation
}

func (c labelling) kind() kind                                 { return labelsKind() }
func (c labelling) reads(int) records.Schema                   { return c.schema }
func (c labelling) view(_ int, data records.Data) records.Data { return data }
func (c labelling) types() []any                               { return []any{c.Features} }

// purposeClassifier is the purpose of the classifier's steps on the ledger.
const purposeClassifier = "classifier step"

// stage returns the stage of the classifier's training.
func (c Labels) stage(r accountant.Relation) synth.Stage {
	t := c.Train
	return synth.Stage{Purpose: purposeClassifier, Event: t.Event(r), Count: t.Steps,
		NoiseMultiplier: t.NoiseMultiplier}
}

// stages returns the stage of the classifier. The part follows.
func (c labelling) stages() (before, after []synth.Stage) {
	return []synth.Stage{c.stage(c.relation)}, nil
}

func (c labelling) title(of []string) string {
	return fmt.Sprintf("of %s by a private classifier, %v", of[0], c.schema)
}

func (c labelling) notes([]synth.Plan) []string {
	notes := []string{fmt.Sprintf("records are kept if the classifier agrees with their labels; "+
		"at most %d are generated for each, at no cost", c.Tries)}
	if to := c.contrast(); c.schema.Kind() == records.GreyImage {
		notes = append(notes, fmt.Sprintf("the classifier sees grey levels %g and %g as black and white",
			to.Black, to.White))
	}
	if f, err := c.features(c.schema); err == nil {
		notes = append(notes, fmt.Sprintf("classifier: linear, of %d features (%T), held in memory "+
			"at 2 bytes each", f.Dim(), c.Features))
	}
	return notes
}

// Judge builds the classifier.
func (c labelling) Judge(r *synth.Run) error {
	_, err := c.learning(r)
	return err
}

// fit trains the classifier and carries out the part. Neither uses the result of the other.
func (c labelling) fit(ctx context.Context, r *run) (*model, error) {
	l, err := c.learning(r.Run)
	if err != nil {
		return nil, err
	}
	if err := l.resume(r, c.Train.Steps-r.Allowance(purposeClassifier).Remaining()); err != nil {
		return nil, err
	}
	if err := l.run(ctx, r.Run); err != nil {
		return nil, err
	}
	if err := r.Save(); err != nil { // the classifier is complete
		return nil, err
	}
	if _, err := r.part(network.Sharing(ctx, c.schema.Classes()), 0, r.Data); err != nil {
		return nil, err
	}
	own := &labelled{config: c.Labels, backend: r.ReleaseBackend(), params: l.released()}
	m := r.model(own)
	own.balance(m)
	own.agreement, err = own.agree(ctx, m)
	return m, err
}

type labelsJSON struct {
	Features json.RawMessage `json:"features"`
	Train    sgd.Config      `json:"train"`
	Rule     string          `json:"rule"` // always "keep"
	Contrast Contrast        `json:"contrast,omitzero"`
	Margin   float64         `json:"margin,omitempty"`
	Tries    int             `json:"tries"`
	Seed     uint64          `json:"seed,string"`
}

// ruleKeep is what the classifier is for, in files.
const ruleKeep = "keep"

func checkRule(rule string) error {
	if rule != ruleKeep {
		return synth.Malformed(fmt.Errorf("labels by the rule %.40q; want %q", rule, ruleKeep))
	}
	return nil
}

func (c labelling) settings() (any, error) {
	j := labelsJSON{Train: c.Train, Rule: ruleKeep, Contrast: c.Contrast,
		Margin: c.Margin, Tries: c.Tries, Seed: c.Seed}
	var err error
	j.Features, err = rff.MarshalFeatures(c.Features)
	return j, err
}

func readLabels(saved synth.SavedPlan, of []synth.Plan) (synth.Design, error) {
	var j labelsJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	c := Labels{Of: Fixed(of[0]), Train: j.Train, Contrast: j.Contrast, Margin: j.Margin,
		Tries: j.Tries, Seed: j.Seed}
	err := checkRule(j.Rule)
	if err != nil {
		return nil, err
	}
	if c.Features, err = rff.UnmarshalFeatures(j.Features); err != nil {
		return nil, synth.Malformed(err)
	}
	if err := saved.Decided(c.Train.NoiseMultiplier); err != nil {
		return nil, err
	}
	if c.limits = network.Unshared(saved.Limits); saved.Schema.Classes() < 2 {
		return c, nil // left to the plan, whose errors describe the mistake
	}
	_, err = c.checkedFeatures(saved.Schema)
	return c, err
}

// A record's features take about mapSteps additions and multiplications for each of them, if
// they are not computed with a table. Generating a record takes about imageSteps for each
// coordinate of an image and numberSteps for each of another record. The limit of a network's
// parameters allows drawSteps steps for a parameter in the draw of one record.
const mapSteps, imageSteps, numberSteps, drawSteps = 256, 1000, 200, 120

// checkCost checks what a file makes of a draw against the limits for files: the memory of the
// features and of the classifier, and the time for all tries of a record.
func (c Labels) checkCost(f rff.Features, s records.Schema) error {
	of, part := mapSteps, numberSteps
	if _, table := f.(*rff.Map); table {
		of = f.In()
	}
	if s.IsImage() {
		part = imageSteps
	}
	steps := int64(f.Dim())*int64(of) + int64(f.In())*int64(part)
	return synth.Malformed(errors.Join(network.CheckFeatures(c.limits, f),
		c.limits.CheckParameters("the classifier", int64(f.Dim()+1)*int64(s.Classes())),
		c.limits.CheckParameters("the classifier of all tries", int64(c.Tries)*steps/drawSteps)))
}
