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

// agree measures the agreement of the classifier and the part's model, by class.
//
// Errors: ctx.Err().
func (l *labelled) agree(ctx context.Context, m *model) (list []float64, err error) {
	// One scorer serves all classes, since it takes memory. Without one, rate tries by itself: the run
	// has been paid for.
	score, _ := newScorer(l.config, l.backend, m.Schema(), l.params)
	for class := range m.Schema().Classes() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list = append(list, l.rate(m, class, score))
	}
	return list, nil
}

// judged is the number of synthetic records of a class on which the agreement is measured.
const judged = 500

// rate measures the agreement of one class. It is 0 if the part's model cannot draw the class. This
// is no error, since the run has been paid for and its result must be released.
func (l *labelled) rate(m *model, class int, score *scorer) float64 {
	c, err := l.drawing(m, synth.Draw{Cluster: -1, Class: class, Seed: uint64(class),
		Means: m.Schema().Kind() == records.GreyImage}, score)
	if err != nil {
		return 0
	}
	rows, err := c.generate(class, judged)
	if err != nil {
		return 0
	}
	good := 0
	for _, v := range c.score.margins(rows) {
		if l.accepts(v) {
			good++
		}
	}
	return float64(good) / judged
}

// balance sets the biases of the classifier so that the mean probabilities of the classes, over
// records of the part's model, are the proportions of the records' labels. Generated records differ
// from those that it has learnt from, which would let it favour a few classes. If the model cannot
// draw, nothing changes.
func (l *labelled) balance(m *model) {
	classes := m.Schema().Classes()
	c, err := l.drawing(m, synth.Draw{Cluster: -1, Class: -1,
		Means: m.Schema().Kind() == records.GreyImage}, nil)
	if err != nil {
		return
	}
	var all []float32
	want, scale := make([]float64, classes), slices.Repeat([]float64{1}, classes)
	for most := max(1, min(judged/2*classes, 1<<21/classes)); len(all) < most*classes; {
		rows, err := c.generate(-1, min(judged, most-len(all)/classes))
		if err != nil {
			return
		}
		c.score.each(rows, func(p []float32, own int32) {
			want[own]++
			all = append(all, p...)
		})
	}
	for range 100 { // each divides every record's probabilities, and then scales those of each class
		sums := make([]float64, classes)
		for p := range slices.Chunk(all, classes) {
			total := math.SmallestNonzeroFloat64
			for i, v := range p {
				total += scale[i] * float64(v)
			}
			for i, v := range p {
				sums[i] += scale[i] * float64(v) / total
			}
		}
		for i, sum := range sums {
			if by := want[i] / sum; by > 0 && by < math.MaxFloat32 {
				scale[i] = min(max(scale[i]*by, 1e-30), 1e30) // so that biases are finite
			}
		}
	}
	biases := l.params[len(l.params)-classes:]
	for i, by := range scale {
		biases[i] += float32(math.Log(by))
	}
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
