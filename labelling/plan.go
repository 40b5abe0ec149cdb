package labelling

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/records/retouch"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

const systemName = "labelling"

// A Plan is a labelling with its price. It has the methods of every plan; see [synth.Plan].
type Plan struct {
	synth.Program
	config Config
}

// Config returns the labelling that the plan was made for.
func (p *Plan) Config() Config {
	if p == nil {
		return Config{}
	}
	return p.config
}

// Plan finds the classifier's noise and prices the stages of the classifier and the other system.
// It reads no records.
//
// Guarantee: Fit reserves exactly the events of the plan, in one transaction, and spends them.
// Errors: all errors of Validate; accountant.ErrBudgetExceeded.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c, err := c.withDefaults().calibrated()
	if err != nil {
		return nil, err
	}
	c.Features, c.Train.Clip = network.Own(c.Features), network.Own(c.Train.Clip)
	w := &work{config: c}
	program, err := synth.NewProgram(systemName, c.Of.Schema(), c.Budget, c.stages(), w)
	if err != nil {
		return nil, err
	}
	return &Plan{program, c}, nil
}

// work implements synth.Work.
type work struct{ config Config }

// Title names the other system.
func (w *work) Title() string {
	return fmt.Sprintf("of %s by a private classifier, %v", w.config.Of.System(),
		w.config.Of.Schema())
}

// Notes describes the classifier and its use. The other system's notes follow.
func (w *work) Notes() []string {
	c := w.config
	notes := []string{"labels are the classifier's, at no cost"}
	if c.Rule == Keep {
		notes[0] = fmt.Sprintf("records are kept if the classifier agrees with their labels; at most "+
			"%d are generated for each, at no cost", c.Tries)
	}
	if to := c.contrast(); c.Of.Schema().Kind() == records.GreyImage {
		notes = append(notes, fmt.Sprintf("the classifier sees grey levels %g and %g as black and white",
			to.Black, to.White))
	}
	if f, err := c.features(c.Of.Schema()); err == nil {
		notes = append(notes, fmt.Sprintf("classifier: linear, of %d features (%T), held in memory "+
			"at 2 bytes each", f.Dim(), c.Features))
	}
	inner := synth.WorkOf(c.Of)
	prefix := c.inner().Prefix
	notes = append(notes, prefix+inner.Title())
	for _, note := range inner.Notes() {
		notes = append(notes, prefix+note)
	}
	return notes
}

// Plans implements [synth.Nested].
func (w *work) Plans() []synth.Plan { return []synth.Plan{w.config.Of} }

// Parts returns the parts that the caller may define.
func (w *work) Parts() []any {
	list := []any{w.config.Features}
	if typed, ok := synth.WorkOf(w.config.Of).(synth.Typed); ok {
		list = append(list, typed.Parts()...)
	}
	return list
}

// configJSON is the configuration of a labelling in a file.
type configJSON struct {
	Plan     json.RawMessage  `json:"plan"`
	Features json.RawMessage  `json:"features"`
	Train    sgd.Config       `json:"train"`
	Rule     Rule             `json:"rule"`
	Contrast retouch.Contrast `json:"contrast,omitzero"`
	Margin   float64          `json:"margin,omitempty"`
	Tries    int              `json:"tries"`
	Seed     uint64           `json:"seed,string"`
}

// Config writes the labelling and the other system's plan.
//
// Errors: all errors of the plan's MarshalJSON; features of a user-defined type.
func (w *work) Config() (json.RawMessage, error) {
	c := w.config
	j := configJSON{Train: c.Train, Rule: c.Rule, Contrast: c.Contrast, Margin: c.Margin,
		Tries: c.Tries, Seed: c.Seed}
	var err error
	if j.Features, err = rff.MarshalFeatures(c.Features); err != nil {
		return nil, err
	}
	if j.Plan, err = c.Of.MarshalJSON(); err != nil {
		return nil, err
	}
	return json.Marshal(j)
}

// System returns the functions that read plans and generators of this package. The argument of
// lists all possible other systems.
func System(of synth.Systems) synth.System {
	return synth.System{Name: systemName,
		Plan: func(s synth.SavedPlan) (synth.Plan, error) { return readPlan(s, of) },
		Model: func(f *synth.File, l synth.Loading) (synth.Model, error) {
			return readModel(f, l, of)
		}}
}

func readPlan(saved synth.SavedPlan, of synth.Systems) (synth.Plan, error) {
	var j configJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	limits, ok := saved.Limits.Share(2) // the other system builds networks, too
	if !ok {
		return nil, synth.Malformed(errors.New("too many systems within each other"))
	}
	c := Config{Budget: saved.Budget, Train: j.Train, Rule: j.Rule,
		Contrast: j.Contrast, Margin: j.Margin, Tries: j.Tries, Seed: j.Seed}
	var err error
	if c.Features, err = rff.UnmarshalFeatures(j.Features); err != nil {
		return nil, synth.Malformed(err)
	}
	if err := saved.Decided(c.Train.NoiseMultiplier); err != nil {
		return nil, err
	}
	if c.Of, err = of.ReadPlan(j.Plan, synth.WithLimits(limits)); err != nil {
		return nil, err
	}
	if err := c.checkSaved(saved); err != nil {
		return nil, err
	}
	p, err := c.Plan()
	return synth.PlanOf(p, err)
}

// checkSaved checks the classifier against the limits for files, before the classifier is built.
func (c Config) checkSaved(saved synth.SavedPlan) error {
	s := c.Of.Schema()
	if !saved.Schema.Equal(s) {
		return fmt.Errorf("%w: %w", synth.ErrFormat, synth.ErrSchema)
	}
	if v, ok := c.Features.(interface{ Validate() error }); ok && v.Validate() != nil {
		return nil // left to the plan, whose errors describe the mistake
	}
	f, err := c.features(s)
	if err != nil {
		return synth.Malformed(err)
	}
	return saved.Network("the classifier", int64(f.Dim()+1)*int64(s.Classes()))
}

// Releases returns the schema of synthetic records.
func (w *work) Releases() records.Schema { return w.config.inner().Releases() }
