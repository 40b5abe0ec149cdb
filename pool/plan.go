package pool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/synth"
)

const systemName = "pool"

// A Plan is a pool with its price. It has the methods of every plan; see [synth.Plan].
type Plan struct {
	synth.Program
	config Config
}

// Config returns the configuration that the plan was made from. Its shares have the sum 1, up to
// rounding.
func (p *Plan) Config() Config {
	if p == nil {
		return Config{}
	}
	return p.config.copied()
}

// copied returns the configuration with slices of its own.
func (c Config) copied() Config {
	c.Of, c.Shares = slices.Clone(c.Of), slices.Clone(c.Shares)
	return c
}

// Plan prices the stages of all systems together. It reads no records.
//
// Guarantee: Fit reserves exactly the events of the plan, in one transaction, and spends them.
// Errors: all errors of Validate; accountant.ErrBudgetExceeded.
func (c Config) Plan() (*Plan, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.copied()
	c.Shares = c.shares()
	program, err := synth.NewProgram(systemName, c.Of[0].Schema(), c.Budget, c.stages(),
		&work{c.copied()})
	if err != nil {
		return nil, err
	}
	return &Plan{program, c}, nil
}

// work implements synth.Work.
type work struct{ config Config }

// Title names all systems.
func (w *work) Title() string {
	var names []string
	for _, p := range w.config.Of {
		names = append(names, p.System())
	}
	return fmt.Sprintf("pool of %s, %v", strings.Join(names, " and "), w.config.Of[0].Schema())
}

// Notes states the shares. The notes of all systems follow.
func (w *work) Notes() (notes []string) {
	for i, part := range w.config.parts() {
		inner := synth.WorkOf(part.Plan)
		notes = append(notes, fmt.Sprintf("%s%s; it draws %.3g %% of the synthetic records", part.Prefix,
			inner.Title(), 100*w.config.Shares[i]))
		for _, note := range inner.Notes() {
			notes = append(notes, part.Prefix+note)
		}
	}
	return notes
}

// Plans implements [synth.Nested].
func (w *work) Plans() []synth.Plan { return w.config.Of }

// Parts returns the parts of all systems that the caller may define.
func (w *work) Parts() (list []any) {
	for _, p := range w.config.Of {
		if typed, ok := synth.WorkOf(p).(synth.Typed); ok {
			list = append(list, typed.Parts()...)
		}
	}
	return list
}

// configJSON is the form of a pool in a file.
type configJSON struct {
	Plans  []json.RawMessage `json:"plans"`
	Shares []float64         `json:"shares"`
}

// Config writes all plans.
//
// Errors: all errors of the plans' MarshalJSON.
func (w *work) Config() (json.RawMessage, error) {
	j := configJSON{Shares: w.config.Shares}
	for _, p := range w.config.Of {
		text, err := p.MarshalJSON()
		if err != nil {
			return nil, err
		}
		j.Plans = append(j.Plans, text)
	}
	return json.Marshal(j)
}

// System returns the system that reads plans and generators of this package. The argument lists the
// systems that a pool may contain.
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
	if len(j.Plans) > mostPlans || len(j.Shares) != len(j.Plans) {
		return nil, synth.Malformed(fmt.Errorf("%d systems with %d shares", len(j.Plans),
			len(j.Shares)))
	}
	limits, ok := saved.Limits.Share(len(j.Plans)) // every plan may build networks
	if !ok {
		return nil, synth.Malformed(errors.New("too many systems within each other"))
	}
	c := Config{Budget: saved.Budget, Shares: j.Shares}
	for _, text := range j.Plans {
		p, err := of.ReadPlan(text, synth.WithLimits(limits))
		if err != nil {
			return nil, err
		}
		c.Of = append(c.Of, p)
	}
	p, err := c.Plan()
	if err == nil && !saved.Schema.Equal(p.Schema()) {
		err = fmt.Errorf("%w: %w", synth.ErrFormat, synth.ErrSchema)
	}
	return synth.PlanOf(p, err)
}

// Judge makes the checks of all systems.
func (w *work) Judge(r *synth.Run) error {
	for _, part := range w.config.parts() {
		if err := r.JudgeInner(part); err != nil {
			return err
		}
	}
	return nil
}
