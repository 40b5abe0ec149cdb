package quantiles

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/synth"
)

const systemName = "quantiles"

// A Plan is a run of another system on ranks, with its price. It has the methods of every plan; see
// [synth.Plan].
type Plan struct {
	synth.Program
	config Config
}

// Config returns the configuration that the plan was made for.
func (p *Plan) Config() Config {
	if p == nil {
		return Config{}
	}
	return p.config
}

// Plan finds the noise of the counts and prices the stages of the counts and the other system. It
// reads no records.
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
	program, err := synth.NewProgram(systemName, c.Schema, c.Budget, c.stages(), &work{config: c})
	if err != nil {
		return nil, err
	}
	return &Plan{program, c}, nil
}

// work implements synth.Work.
type work struct{ config Config }

// Title names the other system.
func (w *work) Title() string {
	return fmt.Sprintf("%s on ranks of numbers, %v", w.config.Of.System(), w.config.Schema)
}

// Notes describes the counts. The other system's notes follow.
func (w *work) Notes() []string {
	c := w.config
	notes := []string{fmt.Sprintf("numbers of %d columns are mapped to ranks by released counts, "+
		"and synthetic ranks are mapped back, at no cost", len(attributesOf(c.Schema, c.Cells))),
		fmt.Sprintf("a logarithmic column or one with more than %d values is counted in %d cells",
			mostCells+2, c.Cells)}
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

// configJSON is the configuration in a file.
type configJSON struct {
	Plan            json.RawMessage `json:"plan"`
	NoiseMultiplier float64         `json:"noise_multiplier"`
	Cells           int             `json:"cells"`
	Seed            uint64          `json:"seed,string"`
}

// Config writes the configuration and the other system's plan.
//
// Errors: all errors of the plan's MarshalJSON.
func (w *work) Config() (json.RawMessage, error) {
	c := w.config
	j := configJSON{NoiseMultiplier: c.NoiseMultiplier, Cells: c.Cells, Seed: c.Seed}
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
	if err := saved.Decided(j.NoiseMultiplier); err != nil {
		return nil, err
	}
	if j.Cells == 0 {
		return nil, synth.Malformed(errors.New("a plan without a number of cells"))
	}
	c := Config{Schema: saved.Schema, Budget: saved.Budget, NoiseMultiplier: j.NoiseMultiplier,
		Cells: j.Cells, Seed: j.Seed}
	var err error
	if c.Of, err = of.ReadPlan(j.Plan, synth.WithLimits(saved.Limits)); err != nil {
		return nil, err
	}
	p, err := c.Plan()
	return synth.PlanOf(p, err)
}

// Judge makes the other system's checks.
func (w *work) Judge(r *synth.Run) error {
	part := w.config.inner()
	if r.Data != nil {
		part.Data = ranked{Data: r.Data, schema: w.config.Of.Schema()}
	}
	return r.JudgeInner(part)
}
