package labelling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/records/retouch"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// Model is the released result of a labelling: the other system's model and the classifier. It
// draws records from the model and uses the classifier to choose or label them.
type Model struct {
	synth.Wrapped
	config    Config // without a plan
	system    string // of the other model
	backend   device.Backend
	params    []float32 // of the classifier
	agreement []float64 // by class
}

// newModel returns the model and measures the agreement of its two parts.
func newModel(ctx context.Context, c Config, be device.Backend, of synth.Model,
	params []float32) (*Model, error) {
	m := &Model{Wrapped: synth.Wrapped{Model: of}, config: c, system: c.Of.System(), backend: be,
		params: params}
	m.config.Of = nil // a plan may hold public records and scratch memory
	for class := range of.Schema().Classes() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.agreement = append(m.agreement, m.rate(class))
	}
	return m, nil
}

// judged is the number of synthetic records of a class on which the agreement is measured.
const judged = 500

// rate measures the agreement of one class. It is 0 if the other model cannot draw the class. This
// is no error, since the run has been paid for and its result must be released.
func (m *Model) rate(class int) float64 {
	c, err := m.drawing(synth.Draw{Cluster: -1, Class: class, Seed: uint64(class),
		Means: m.Schema().Kind() == records.GreyImage})
	if err != nil {
		return 0
	}
	rows, err := c.generate(class, judged)
	if err != nil {
		return 0
	}
	good := 0
	for _, v := range c.score.margins(rows) {
		if m.accepts(v) {
			good++
		}
	}
	return float64(good) / judged
}

// accepts reports whether a record of this margin is kept. A record whose margin is not a number is
// not kept.
func (m *Model) accepts(margin float64) bool { return margin > 0 && margin >= m.config.Margin }

// Agreement returns, for each class, the fraction of the other system's records to which the
// classifier gives their own label, by at least the margin. It is measured on 500 records of each
// class. It is 0 for a class that the other system cannot draw.
//
// Guarantee: it is computed from released records by the released classifier.
func (m *Model) Agreement() []float64 {
	if m == nil {
		return nil
	}
	return slices.Clone(m.agreement)
}

// Of returns a generator of all records that the other system draws, without the classifier. It has
// the guarantee of g.
//
// Errors: *param.Error for a generator of another system.
func Of(g *synth.Generator) (*synth.Generator, error) {
	m, ok := g.Model().(*Model)
	if !ok || m == nil {
		return nil, param.New("labelling.Of.g", g.System(), "a generator of package labelling")
	}
	return synth.NewGenerator(m.system, m.Model, g.Guarantee()), nil
}

// WithRule returns the same generator with another rule and margin. The margin applies to the rule
// Keep.
//
// Guarantee: it is computed from the released generator. Errors: *param.Error for a generator of
// another system, an unknown rule or a margin outside [0, 1).
func WithRule(g *synth.Generator, r Rule, margin float64) (*synth.Generator, error) {
	m, ok := g.Model().(*Model)
	if !ok || m == nil {
		return nil, param.New("labelling.WithRule.g", g.System(), "a generator of package labelling")
	}
	c := *m
	c.config.Rule, c.config.Margin = r, margin
	var k param.Checker
	c.config.checkRule(&k, "labelling.WithRule: ", c.Schema())
	if err := k.Err(); err != nil {
		return nil, err
	}
	c.agreement = nil
	for class := range c.Schema().Classes() {
		c.agreement = append(c.agreement, c.rate(class))
	}
	return synth.NewGenerator(systemName, &c, g.Guarantee()), nil
}

type modelJSON struct {
	System    string           `json:"system"`
	Model     json.RawMessage  `json:"model"`
	Features  json.RawMessage  `json:"features"`
	Seed      uint64           `json:"seed,string"`
	Rule      Rule             `json:"rule"`
	Contrast  retouch.Contrast `json:"contrast,omitzero"`
	Margin    float64          `json:"margin,omitempty"`
	Tries     int              `json:"tries"`
	Agreement []float64        `json:"agreement"`
}

// Encode writes the other system's model and the classifier.
//
// Errors: all errors of the other model's Encode; features of a user-defined type.
func (m *Model) Encode() (*synth.File, error) {
	f, err := m.Model.Encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.system, err)
	}
	j := modelJSON{System: m.system, Model: f.Header, Seed: m.config.Seed, Rule: m.config.Rule,
		Contrast: m.config.Contrast, Margin: m.config.Margin, Tries: m.config.Tries,
		Agreement: m.agreement}
	if j.Features, err = rff.MarshalFeatures(m.config.Features); err != nil {
		return nil, err
	}
	out, err := synth.NewFile(j, synth.Part32(sectionClassifier, &m.params, len(m.params)))
	if err == nil {
		out.Kind = systemName
		out.Sections = append(out.Sections, f.Sections...)
	}
	return out, err
}

func readModel(f *synth.File, l synth.Loading, of synth.Systems) (synth.Model, error) {
	var j modelJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	if len(f.Sections) == 0 {
		return nil, synth.Malformed(errors.New("a file without a classifier"))
	}
	own := &synth.File{Kind: j.System, Header: j.Model, Sections: f.Sections[1:]}
	inner, err := of.ReadModel(own, l)
	if err != nil {
		return nil, err
	}
	m := &Model{Wrapped: synth.Wrapped{Model: inner}, system: j.System, backend: l.Backend,
		config: Config{Seed: j.Seed, Rule: j.Rule, Contrast: j.Contrast, Margin: j.Margin,
			Tries: j.Tries}, agreement: j.Agreement}
	if m.config.Features, err = rff.UnmarshalFeatures(j.Features); err != nil {
		return nil, synth.Malformed(err)
	}
	if err := m.check(); err != nil {
		return nil, synth.Malformed(err)
	}
	features, err := m.config.features(inner.Schema())
	if err != nil {
		return nil, synth.Malformed(err)
	}
	n := (features.Dim() + 1) * inner.Schema().Classes()
	if err := f.Load(synth.Part32(sectionClassifier, &m.params, n)); err != nil {
		return nil, err
	}
	return m, nil
}

// check returns an error for values that no labelling can have written.
func (m *Model) check() error {
	var k param.Checker
	const path = "labelling.Model."
	s := m.Schema()
	k.OK(s.Classes() > 1, path+"Schema", described(s), "records of two classes or more")
	m.config.checkRule(&k, path, s)
	k.OK(m.config.Tries > 0 && m.config.Tries <= mostTries, path+"Tries", m.config.Tries,
		"a positive number")
	k.OK(len(m.agreement) == s.Classes(), path+"Agreement", len(m.agreement), "one for each class")
	if k.Err() == nil {
		k.Add(m.config.checkFeatures(s))
	}
	return k.Err()
}
