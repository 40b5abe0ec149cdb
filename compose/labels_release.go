package compose

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// labelled is what labels release beside the part's model: the classifier.
type labelled struct {
	config    Labels // without Of
	backend   device.Backend
	params    []float32 // of the classifier
	agreement []float64 // by class
}

// judged is the number of synthetic records of a class on which the agreement is measured.
const judged = 500

// agree measures the agreement of the classifier and the part's model, by class.
//
// Errors: ctx.Err().
func (l *labelled) agree(ctx context.Context, m *model) ([]float64, error) {
	list := make([]float64, m.Schema().Classes())
	err := l.judge(ctx, m, judged, func(class int, p []float32) {
		if l.accepts(margin(p, class)) {
			list[class]++
		}
	})
	for i := range list {
		list[i] /= judged
	}
	return list, err
}

// balance sets the biases of the classifier so that it gives each class to about as many of the
// part's records as have it, if all classes have equally many. Generated records differ from those
// that it has learnt from, which would let it favour a few classes.
//
// Errors: ctx.Err().
func (l *labelled) balance(ctx context.Context, m *model) error {
	classes := m.Schema().Classes()
	var logs [][]float64
	want := make([]int, classes)
	err := l.judge(ctx, m, max(1, min(judged, 1<<21/(classes*classes))), func(class int, p []float32) {
		row := make([]float64, classes)
		for i, v := range p {
			row[i] = math.Log(1e-30)
			if v > 1e-30 {
				row[i] = math.Log(float64(v))
			}
		}
		logs, want[class] = append(logs, row), want[class]+1
	})
	biases := l.params[len(l.params)-classes:]
	for range 100 {
		got := make([]int, classes)
		for _, row := range logs {
			got[slices.Index(row, slices.Max(row))]++
		}
		for i := range biases {
			step := 0.2 * math.Log(float64(want[i]+1)/float64(got[i]+1))
			biases[i] += float32(step)
			for _, row := range logs {
				row[i] += step
			}
		}
	}
	return err
}

// judge calls f with the classifier's probabilities for each of n generated records of every class.
// It leaves out a class that the part's model cannot draw. This is no error, since the run has been
// paid for and its result must be released.
//
// Errors: ctx.Err().
func (l *labelled) judge(ctx context.Context, m *model, n int, f func(int, []float32)) error {
	for class := range m.Schema().Classes() {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := l.drawing(m, synth.Draw{Cluster: -1, Class: class, Seed: uint64(class),
			Means: m.Schema().Kind() == records.GreyImage})
		if err != nil {
			continue
		}
		if rows, err := c.generate(class, n); err == nil {
			c.score.each(rows, func(p []float32, _ int32) { f(class, p) })
		}
	}
	return nil
}

// accepts reports whether a record of this margin is kept. A record whose margin is not a number is
// not kept.
func (l *labelled) accepts(margin float64) bool { return margin > 0 && margin >= l.config.Margin }

// Agreement returns, for each class, the fraction of the part's records to which the classifier of
// a generator of [Labels] gives their own label, by at least the margin. It is measured on 500
// records of each class. It is 0 for a class that the part cannot draw.
//
// Guarantee: it is computed from released records by the released classifier. Errors: *param.Error
// for another generator.
func Agreement(g *synth.Generator) ([]float64, error) {
	_, l, err := releasedBy[*labelled](g, "compose.Agreement.g", labelsKind())
	if err != nil {
		return nil, err
	}
	return slices.Clone(l.agreement), nil
}

// WithMargin returns a generator of [Labels] with another margin.
//
// Guarantee: it is computed from the released generator. Errors: *param.Error for another
// generator or a margin outside [0, 1).
func WithMargin(g *synth.Generator, margin float64) (*synth.Generator, error) {
	m, l, err := releasedBy[*labelled](g, "compose.WithMargin.g", labelsKind())
	if err != nil {
		return nil, err
	}
	own, out := *l, *m
	own.config.Margin = margin
	var k param.Checker
	own.config.checkAcceptance(&k, "compose.WithMargin: ", m.Schema())
	if err := k.Err(); err != nil {
		return nil, err
	}
	out.released = &own
	own.agreement, err = own.agree(context.Background(), &out)
	return synth.NewGenerator(g.System(), &out, g.Guarantee()), err
}

type labelledJSON struct {
	Features  json.RawMessage `json:"features"`
	Seed      uint64          `json:"seed,string"`
	Rule      string          `json:"rule"` // always "keep"
	Contrast  Contrast        `json:"contrast,omitzero"`
	Margin    float64         `json:"margin,omitempty"`
	Tries     int             `json:"tries"`
	Agreement []float64       `json:"agreement"`
}

// header writes the classifier's settings.
//
// Errors: features of a user-defined type.
func (l *labelled) header() (any, error) {
	c := l.config
	j := labelledJSON{Seed: c.Seed, Rule: ruleKeep, Contrast: c.Contrast, Margin: c.Margin,
		Tries: c.Tries, Agreement: l.agreement}
	var err error
	j.Features, err = rff.MarshalFeatures(c.Features)
	return j, err
}

func (l *labelled) sections() []synth.Part {
	return []synth.Part{synth.FloatsPart(sectionClassifier, &l.params, len(l.params))}
}

func readLabelled(f *synth.File, of []synth.Model, loading synth.Loading) (released, error) {
	var j labelledJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	l := &labelled{backend: loading.Backend, config: Labels{Seed: j.Seed, Contrast: j.Contrast,
		Margin: j.Margin, Tries: j.Tries, limits: loading.Limits}, agreement: j.Agreement}
	err := checkRule(j.Rule)
	if err != nil {
		return nil, err
	}
	if l.config.Features, err = rff.UnmarshalFeatures(j.Features); err != nil {
		return nil, synth.Malformed(err)
	}
	s := of[0].Schema()
	if err := l.check(s); err != nil {
		return nil, synth.Malformed(err)
	}
	features, err := l.config.checkedFeatures(s)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	n := (features.Dim() + 1) * s.Classes()
	return l, f.Load(synth.FloatsPart(sectionClassifier, &l.params, n))
}

// check returns an error for values that no plan of labels can have.
func (l *labelled) check(s records.Schema) error {
	var k param.Checker
	const path = "compose.Labels."
	k.OK(s.Classes() > 1, path+"Schema", described(s), "records of two classes or more")
	l.config.checkAcceptance(&k, path, s)
	k.OK(l.config.Tries > 0 && l.config.Tries <= mostTries, path+"Tries", l.config.Tries,
		"a positive number")
	k.OK(len(l.agreement) == s.Classes(), path+"Agreement", len(l.agreement), "one for each class")
	return k.Err()
}
