package classify

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/judge"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Method trains a classifier. It is a method of this package, or a user-defined method that calls
// [NewClassifier].
type Method interface {
	// Name returns the usual name of the method.
	Name() string
	// Fit trains on labelled records, without any privacy.
	Fit(train records.Data) (*Classifier, error)
}

// Scorer scores records. It is the trained part of a classifier.
type Scorer interface {
	// Scores sets dst to a number for every class of every record of b. A larger number means a
	// likelier class: it may be a probability, its logarithm or a margin. Dense records are scaled
	// from the schema's bounds to [0, 1]. Scores is safe for concurrent use.
	//
	// Shapes: dst has Rows×Classes numbers, record by record.
	Scores(b device.Batch, dst []float64)
}

// Prober is a [Scorer] that also returns probabilities.
type Prober interface {
	Scorer
	// Probabilities sets dst to numbers that add up to 1 for every record.
	Probabilities(b device.Batch, dst []float64)
}

// learner is the common part of the methods of this package.
type learner interface {
	Method
	validate() error
	learn(x *design) (Scorer, error)
}

// fit checks settings and records, reads the records once and trains.
func fit(l learner, d records.Data) (*Classifier, error) {
	x, err := load("classify.Method.Fit", d)
	if err = errors.Join(l.validate(), err); err != nil {
		return nil, err
	}
	return fitDesign(l, x)
}

func fitDesign(l learner, x *design) (*Classifier, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	scorer, err := l.learn(x)
	if err != nil {
		return nil, err
	}
	return NewClassifier(l.Name(), x.schema, scorer), nil
}

// Classifier predicts the classes of records. It is safe for concurrent use. It prints as its name,
// since it may have learnt from real records.
type Classifier struct{ *hiddenClassifier }

// hiddenClassifier keeps the learnt parameters behind two pointers; see hiddenSet.
type hiddenClassifier struct{ *learnt }

type learnt struct {
	scorer Scorer
	schema records.Schema
	name   string
}

// NewClassifier returns a classifier for records of a schema with a user-defined scorer.
func NewClassifier(name string, s records.Schema, by Scorer) *Classifier {
	return &Classifier{&hiddenClassifier{&learnt{scorer: by, schema: s, name: name}}}
}

// Format writes the classifier's name for every verb.
func (c Classifier) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.text()) }

// LogValue returns the classifier's name.
func (c Classifier) LogValue() slog.Value { return slog.StringValue(c.text()) }

// MarshalText writes the classifier's name.
func (c Classifier) MarshalText() ([]byte, error) { return []byte(c.text()), nil }

func (c Classifier) text() string {
	if c.hiddenClassifier == nil {
		return "no classifier"
	}
	return c.name
}

// Name returns the name of the classifier's method.
func (c *Classifier) Name() string { return c.name }

// Schema returns the schema of the records that the classifier was trained on.
func (c *Classifier) Schema() records.Schema { return c.schema }

// Predict returns the likeliest class of every record, or the first of equally likely classes.
//
// Errors: *[param.Error] for records of another dimension or other bounds than the training
// records.
func (c *Classifier) Predict(d records.Data) ([]int32, error) {
	scores, err := c.scores("Predict", d)
	if err != nil {
		return nil, err
	}
	return c.named(scores), nil
}

// ranked converts scores to the numbers that records are ranked by within a class. For more than
// two classes these are probabilities, if the classifier has them, since logarithms of densities
// compare classes, not records.
func (c *Classifier) ranked(d records.Data, scores []float64) []float64 {
	if p, ok := c.scorer.(Prober); ok && c.schema.Classes() > 2 {
		return c.score(d, p.Probabilities)
	}
	return scores
}

// named returns the class with the largest score of each record.
func (c *Classifier) named(scores []float64) []int32 {
	k := c.schema.Classes()
	out := make([]int32, len(scores)/max(k, 1))
	for i := range out {
		out[i] = int32(argmax(scores[i*k : i*k+k]))
	}
	return out
}

// Scores returns the scores that Predict uses, one for every class of every record, record by
// record.
//
// Errors: see [Classifier.Predict].
func (c *Classifier) Scores(d records.Data) ([]float64, error) {
	return c.scores("Scores", d)
}

// scores is Scores. Its errors name the called method.
func (c *Classifier) scores(call string, d records.Data) ([]float64, error) {
	if err := c.compatible(call, d); err != nil {
		return nil, err
	}
	return c.score(d, c.scorer.Scores), nil
}

// Probabilities returns the probabilities of the classes of every record.
//
// Errors: all errors of [Classifier.Predict], and *[param.Error] for a classifier that has margins
// only.
func (c *Classifier) Probabilities(d records.Data) ([]float64, error) {
	p, ok := c.scorer.(Prober)
	if !ok {
		return nil, param.New("classify.Classifier.Probabilities", c.name,
			"a classifier that returns probabilities")
	}
	if err := c.compatible("Probabilities", d); err != nil {
		return nil, err
	}
	return c.score(d, p.Probabilities), nil
}

func (c *Classifier) score(d records.Data, by func(device.Batch, []float64)) []float64 {
	const chunk = 1024
	var (
		b   device.Batch
		own = judge.InSchema(d)
		n   = d.Len()
		k   = c.schema.Classes()
		out = make([]float64, n*k)
	)
	for lo := 0; lo < n; lo += chunk {
		hi := min(lo+chunk, n)
		own.Range(lo, hi, &b)
		judge.ToUnit(d.Schema(), &b)
		by(b, out[lo*k:hi*k])
	}
	return out
}

func (c *Classifier) compatible(call string, d records.Data) error {
	path := "classify.Classifier." + call
	if err := judge.Given(path, d); err != nil {
		return err
	}
	if c.scorer == nil {
		return param.New(path, c.name, "a scorer")
	}
	s := d.Schema()
	lo, hi := s.Bounds()
	wantLo, wantHi := c.schema.Bounds()
	if s.Dim() != c.schema.Dim() || s.Sparse() != c.schema.Sparse() || lo != wantLo || hi != wantHi {
		return param.New(path, s, fmt.Sprintf("records like the training records: %v", c.schema))
	}
	return nil
}

// argmax returns the position of the largest number, or the first of several equal ones. It ignores
// NaN.
func argmax(v []float64) int {
	best, at := math.Inf(-1), 0
	for i, x := range v {
		if x > best {
			best, at = x, i
		}
	}
	return at
}

// softmax converts logarithms to probabilities in place.
func softmax(v []float64) {
	top := v[argmax(v)]
	if math.IsInf(top, -1) {
		top = 0
	}
	sum := 0.0
	for i, x := range v {
		v[i] = math.Exp(x - top)
		sum += v[i]
	}
	for i := range v {
		v[i] /= max(sum, math.SmallestNonzeroFloat64)
	}
}
