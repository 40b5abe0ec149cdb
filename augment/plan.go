package augment

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

const systemName = "augment"

// A Plan is a run of another system and of the choice, with its price. It has the methods of every
// plan; see [synth.Plan].
type Plan struct {
	synth.Program
	config Config
}

// Config returns the configuration that the plan was made for.
func (p *Plan) Config() Config {
	if p == nil {
		return Config{}
	}
	c := p.config
	c.Candidates = slices.Clone(c.Candidates)
	return c
}

// Plan prices the stages of the other system and the choice. It reads no records.
//
// Guarantee: Fit reserves exactly the events of the plan, in one transaction, and spends them.
// Errors: all errors of Validate; accountant.ErrBudgetExceeded.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
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
	return fmt.Sprintf("records of %s, changed by a private choice, %v", w.config.Of.System(),
		w.config.Of.Schema())
}

// Notes lists the candidates. The other system's notes follow.
func (w *work) Notes() []string {
	c := w.config
	notes := []string{fmt.Sprintf("one of %d changes of the synthetic records is chosen by the "+
		"number of records that a classifier recognises; each classifier learns from %d changed "+
		"synthetic records, at no cost", len(c.Candidates), c.Records)}
	for i, candidate := range c.Candidates {
		notes = append(notes, fmt.Sprintf("change %d: %v", i, candidate))
	}
	inner, prefix := synth.WorkOf(c.Of), c.inner().Prefix
	notes = append(notes, prefix+inner.Title())
	for _, note := range inner.Notes() {
		notes = append(notes, prefix+note)
	}
	return notes
}

// Plans implements [synth.Nested].
func (w *work) Plans() []synth.Plan { return []synth.Plan{w.config.Of} }

// Parts returns the parts of the other system that the caller may define.
func (w *work) Parts() []any {
	if typed, ok := synth.WorkOf(w.config.Of).(synth.Typed); ok {
		return typed.Parts()
	}
	return nil
}

// Releases returns the schema of synthetic records.
func (w *work) Releases() records.Schema { return w.config.inner().Releases() }

// configJSON is the configuration in a file.
type configJSON struct {
	Plan       json.RawMessage `json:"plan"`
	Candidates []Candidate     `json:"candidates"`
	Share      float64         `json:"share"`
	Records    int             `json:"records"`
	Seed       uint64          `json:"seed,string"`
}

// Config writes the configuration and the other system's plan.
//
// Errors: all errors of the plan's MarshalJSON.
func (w *work) Config() (json.RawMessage, error) {
	c := w.config
	j := configJSON{Candidates: c.Candidates, Share: c.Share, Records: c.Records, Seed: c.Seed}
	var err error
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
	if len(j.Candidates) == 0 || j.Share == 0 || j.Records == 0 {
		return nil, synth.Malformed(errors.New("a plan without candidates, share or records"))
	}
	c := Config{Budget: saved.Budget, Candidates: j.Candidates, Share: j.Share, Records: j.Records,
		Seed: j.Seed}
	var err error
	if c.Of, err = of.ReadPlan(j.Plan, synth.WithLimits(limits)); err != nil {
		return nil, err
	}
	if !saved.Schema.Equal(c.Of.Schema()) {
		return nil, fmt.Errorf("%w: %w", synth.ErrFormat, synth.ErrSchema)
	}
	if err := saved.Network("the classifier", weights(c.Of.Schema())); err != nil {
		return nil, err
	}
	p, err := c.Plan()
	return synth.PlanOf(p, err)
}

// Judge makes the other system's checks.
func (w *work) Judge(r *synth.Run) error {
	return r.JudgeInner(w.config.inner())
}
