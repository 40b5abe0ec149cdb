package judge

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"

	"github.com/seed7ba64551/privgen/device"
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

// Learner is the common part of the methods of this package and of report/evaluate/classify.
type Learner interface {
	Method
	// Validate reports every setting that is invalid for all records.
	Validate() error
	// Learn trains on records that have been read.
	Learn(x *Design) (Scorer, error)
}

// Fit checks settings and records, reads the records once and trains.
func Fit(l Learner, d records.Data) (*Classifier, error) {
	x, err := Load("classify.Method.Fit", d)
	if err = errors.Join(l.Validate(), err); err != nil {
		return nil, err
	}
	return x.Fit(l)
}

// Fit checks the settings and trains.
func (x *Design) Fit(l Learner) (*Classifier, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	scorer, err := l.Learn(x)
	if err != nil {
		return nil, err
	}
	return NewClassifier(l.Name(), x.Schema, scorer), nil
}

// Classifier predicts the classes of records. It is safe for concurrent use. It prints as its name,
// since it may have learnt from real records.
type Classifier struct{ *hiddenClassifier }

// hiddenClassifier keeps the learnt parameters behind two pointers, which package fmt
// does not follow from an unexported field of another struct.
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
	scores, err := c.Scores(d)
	if err != nil {
		return nil, err
	}
	return Named(scores, c.schema.Classes()), nil
}

// Named returns the class with the largest of the k scores of each record.
func Named(scores []float64, k int) []int32 {
	out := make([]int32, len(scores)/max(k, 1))
	for i := range out {
		out[i] = int32(Argmax(scores[i*k : i*k+k]))
	}
	return out
}

// Scores returns the scores that Predict uses, one for every class of every record, record by
// record.
//
// Errors: see [Classifier.Predict].
func (c *Classifier) Scores(d records.Data) ([]float64, error) {
	if err := c.compatible("Scores", d); err != nil {
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
	k := c.schema.Classes()
	out := make([]float64, d.Len()*k)
	for lo, b := range Batches(InSchema(d)) {
		ToUnit(d.Schema(), b)
		by(*b, out[lo*k:(lo+b.Rows)*k])
	}
	return out
}

func (c *Classifier) compatible(call string, d records.Data) error {
	path := "classify.Classifier." + call
	if err := Given(path, d); err != nil {
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

// Argmax returns the position of the largest number, or the first of several equal ones. It ignores
// NaN.
func Argmax(v []float64) int {
	best, at := math.Inf(-1), 0
	for i, x := range v {
		if x > best {
			best, at = x, i
		}
	}
	return at
}

// Softmax converts logarithms to probabilities in place.
func Softmax(v []float64) {
	top := v[Argmax(v)]
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

// SoftmaxRows turns logarithms into probabilities, record by record.
func SoftmaxRows(v []float64, classes int) {
	for i := 0; i+classes <= len(v); i += classes {
		Softmax(v[i : i+classes])
	}
}
