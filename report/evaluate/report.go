package evaluate

import (
	"errors"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Review computes all measures of this package in one call. The zero value is ready to
// use.
type Review struct {
	Fidelity Fidelity
	Suite    Suite
	// Scorer gives the probabilities for the Inception-style score; nil for the convolutional network
	// for images and a multilayer perceptron otherwise.
	Scorer classify.Method
	// Discriminator distinguishes synthetic from real records for the Jensen–Shannon score; nil for a
	// random forest of 50 trees of depth 8.
	Discriminator classify.Method
	Most          int // records of each kind that are trained on at most; 0 for all
	Seed          uint64
}

// Report is the outcome of a [Review].
type Report struct {
	Schema        string             `json:"schema"`
	Similarity    Similarity         `json:"similarity"`
	JensenShannon JensenShannonScore `json:"jensen_shannon"`
	Utilities     *Utilities         `json:"utilities,omitempty"` // nil without classes
	Inception     *InceptionScore    `json:"inception,omitempty"` // nil without classes
}

func (r Review) withDefaults(s records.Schema) Review {
	if r.Scorer == nil {
		r.Scorer = classify.NeuralNetwork{Hidden: []int{100}, Seed: r.Seed}
		if s.IsImage() {
			r.Scorer = classify.Convolutional{Training: classify.NeuralNetwork{Seed: r.Seed}}
		}
	}
	if r.Discriminator == nil {
		r.Discriminator = classify.RandomForest{Trees: 50, Depth: 8, Seed: r.Seed}
	}
	if r.Suite.Most == 0 {
		r.Suite.Most = r.Most
	}
	return r
}

// Report compares synthetic with real records. It trains classifiers on synthetic and on real
// records, and tests them on held-out real records.
//
// Errors: *[param.Error], joined, for invalid settings, records of
// different schemas, or too few records.
// Guarantee: none; see the package.
func (r Review) Report(synthetic, train, test records.Data) (Report, error) {
	if err := judge.Given("evaluate.Review", synthetic, train, test); err != nil {
		return Report{}, err
	}
	r = r.withDefaults(train.Schema())
	if r.Most < 0 {
		return Report{}, param.New("evaluate.Review.Most", r.Most, "a number of records, or 0 for all")
	}
	out := Report{Schema: train.Schema().String()}
	var errs [3]error
	out.Similarity, errs[0] = r.Fidelity.Compare(synthetic, train, test)
	out.JensenShannon, errs[1] = JensenShannon(r.Discriminator, r.some(synthetic), r.some(train),
		r.some(test))
	if train.Schema().Classes() > 1 {
		errs[2] = r.classes(&out, synthetic, train, test)
	}
	return out, errors.Join(errs[:]...)
}

func (r Review) some(d records.Data) records.Data {
	if r.Most == 0 {
		return d
	}
	return compare.AtMost(d, r.Most, r.Seed)
}

// classes adds the measures that need labels.
func (r Review) classes(out *Report, synthetic, train, test records.Data) error {
	u, err := r.Suite.Compare(synthetic, train, test)
	if err != nil {
		return err
	}
	c, err := r.Scorer.Fit(r.some(train))
	if err != nil {
		return err
	}
	score, err := Inception(c, synthetic, test)
	if err != nil {
		return err
	}
	out.Utilities, out.Inception = &u, &score
	return nil
}

// String prints all parts, each marked as not private.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString(judge.Mark + "report on synthetic records of " + r.Schema + " (" +
		judge.Caveat + ")\n\n")
	b.WriteString(r.Similarity.String() + "\n\n" + r.JensenShannon.String())
	if r.Inception != nil {
		b.WriteString("\n" + r.Inception.String())
	}
	if r.Utilities != nil {
		b.WriteString("\n\n" + r.Utilities.String())
	}
	return b.String()
}

// MarshalJSON writes the result with its caveat; its parts carry it too.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return compare.JSON("report on synthetic records", plain(r))
}
