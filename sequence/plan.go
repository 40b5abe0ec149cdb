package sequence

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

const systemName = "sequence"

// A Plan is a sequence with its price. It has the methods of every plan; see [synth.Plan].
type Plan struct {
	synth.Program
	config Config
}

// Config returns the configuration that the plan was made from.
func (p *Plan) Config() Config {
	if p == nil {
		return Config{}
	}
	return p.config
}

// Plan prices the stages of both systems together. It reads no records.
//
// Guarantee: Fit reserves exactly the events of the plan, in one transaction, and spends them.
// Errors: all errors of Validate; accountant.ErrBudgetExceeded.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	program, err := synth.NewProgram(systemName, c.Then.Schema(), c.Budget, c.stages(), &work{c})
	if err != nil {
		return nil, err
	}
	return &Plan{program, c}, nil
}

// work implements synth.Work.
type work struct{ config Config }

// Title names both systems.
func (w *work) Title() string {
	return fmt.Sprintf("%s, then %s, %v", w.config.First.System(), w.config.Then.System(),
		w.config.Then.Schema())
}

// Notes returns the notes of both systems.
func (w *work) Notes() []string {
	c := w.config
	notes := []string{fmt.Sprintf("%d synthetic records of the first system are public to the second,"+
		" at no cost", c.Records)}
	for _, part := range c.parts() {
		inner := synth.WorkOf(part.Plan)
		notes = append(notes, part.Prefix+inner.Title())
		for _, note := range inner.Notes() {
			notes = append(notes, part.Prefix+note)
		}
	}
	return notes
}

// Plans implements [synth.Nested].
func (w *work) Plans() []synth.Plan { return []synth.Plan{w.config.First, w.config.Then} }

// Parts returns the parts of both systems that the caller may define.
func (w *work) Parts() (list []any) {
	for _, part := range w.config.parts() {
		if typed, ok := synth.WorkOf(part.Plan).(synth.Typed); ok {
			list = append(list, typed.Parts()...)
		}
	}
	return list
}

// Releases returns the schema of the second system's synthetic records.
func (w *work) Releases() records.Schema { return w.config.parts()[1].Releases() }

// configJSON is the form of a sequence in a file.
type configJSON struct {
	First   json.RawMessage `json:"first"`
	Then    json.RawMessage `json:"then"`
	Records int             `json:"records"`
	Seed    uint64          `json:"seed,string"`
}

// Config writes both plans.
//
// Errors: all errors of the plans' MarshalJSON.
func (w *work) Config() (json.RawMessage, error) {
	c := w.config
	j := configJSON{Records: c.Records, Seed: c.Seed}
	var err error
	if j.First, err = c.First.MarshalJSON(); err != nil {
		return nil, err
	}
	if j.Then, err = c.Then.MarshalJSON(); err != nil {
		return nil, err
	}
	return json.Marshal(j)
}

// System returns the system that reads sequences of the given systems, and sequences of such
// sequences.
func System(of synth.Systems) synth.System {
	return synth.System{Name: systemName,
		Plan: func(s synth.SavedPlan) (synth.Plan, error) { return readPlan(s, with(of)) },
		Model: func(f *synth.File, l synth.Loading) (synth.Model, error) {
			return readModel(f, l, with(of))
		}}
}

// with adds sequences to some systems.
func with(of synth.Systems) synth.Systems {
	return append(of[:len(of):len(of)], System(of))
}

func readPlan(saved synth.SavedPlan, of synth.Systems) (synth.Plan, error) {
	var j configJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	limits, ok := saved.Limits.Share(2) // both plans may build networks, or be sequences
	if !ok {
		return nil, synth.Malformed(errors.New("sequences within each other are nested too deeply"))
	}
	c := Config{Budget: saved.Budget, Records: j.Records, Seed: j.Seed}
	var err error
	if c.First, err = of.ReadPlan(j.First, synth.WithLimits(limits)); err != nil {
		return nil, err
	}
	if c.Then, err = of.ReadPlan(j.Then, synth.WithLimits(limits)); err != nil {
		return nil, err
	}
	p, err := c.Plan()
	if err == nil && !saved.Schema.Equal(p.Schema()) {
		err = fmt.Errorf("%w: %w", synth.ErrFormat, synth.ErrSchema)
	}
	return synth.PlanOf(p, err)
}
