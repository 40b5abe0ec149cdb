package tables

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// work is a method with its noise.
type work struct {
	method
	noise float64
}

// newPlan returns the plan with the smallest noise that meets the budget.
func newPlan(m method) (synth.PassProgram, error) {
	noise, _, err := accountant.CalibrateNoise(m.Budget, func(noise float64) accountant.Event {
		return synth.Total(m.stages(noise)...)
	})
	if len(m.choices) == 0 || m.choices[len(m.choices)-1].Setting != "" { // not read from a file
		m.predicted()
	}
	if err != nil {
		return synth.PassProgram{}, fmt.Errorf("tables: noise of %s: %w", m.strategy.name(), err)
	}
	if err := m.drawable(noise); err != nil {
		return synth.PassProgram{}, err
	}
	return synth.NewPassProgram(m.strategy.name(), m.Schema, m.Budget, m.stages(noise),
		work{m, noise})
}

// TakesPersons marks that the system supports schemas with several rows per person: rows count with
// weights.
func (w work) TakesPersons() {}

// Known returns the number of the first columns, which are known before a row is drawn; see After.
func (w work) Known() int { return w.before }

// Title describes the records.
func (w work) Title() string { return w.Schema.String() }

// Notes lists the choices of the default rules.
func (w work) Notes() []string { return w.choices.Notes() }

// Passes returns the names of the passes over all records.
func (w work) Passes() []string {
	list := []string{purposeColumns}
	if w.WithinPart > 0 {
		list = append(list, purposeWithin)
	}
	if w.rounds > 0 {
		list = append(list, purposeTables)
	}
	if w.trendPart > 0 {
		list = append(list, trendPasses...)
	}
	return list
}

// Partial returns the counts of a pass over no records.
//
// Errors: *param.Error for a pass that does not belong to the plan.
func (w work) Partial(p synth.Pass, _ device.Backend) (*mechanism.Partial, error) {
	var c mechanism.Counter
	switch {
	case p.Purpose == purposeColumns && p.State == nil:
		c = w.survey().Counter()
	case p.Purpose == purposeWithin && w.WithinPart > 0:
		d, ok := marginal.ReadDivision(w.attributes, p.State)
		if ok {
			c = w.parts(d).Counter()
		}
	case p.Purpose == purposeTables && w.rounds > 0:
		if groups, ok := marginal.ReadPassState(w.attributes, p.State, w.coarse); ok {
			c = w.counter(groups)
		}
	case w.trendPart > 0 && slices.Contains(trendPasses, p.Purpose):
		c = w.trendCounter(p.State)
	}
	if c == nil {
		return nil, param.New("tables.Pass ("+w.strategy.name()+")", p.Purpose,
			"a pass of this plan, with its state unchanged")
	}
	config, err := w.Config()
	if err != nil {
		return nil, err
	}
	pass, err := mechanism.NewPassID(w.strategy.name(), w.Schema, w.Budget, config, p)
	if err != nil {
		return nil, err
	}
	return mechanism.NewPartial(pass, w.Schema, c, false), nil
}

// planJSON is the configuration of a method in a plan's JSON.
type planJSON struct {
	Bins       int     `json:"bins"`
	Fine       int     `json:"fine"`
	Cells      int     `json:"cells"`
	ColumnPart float64 `json:"column_part"`
	WithinPart float64 `json:"within_part,omitempty"`
	Nominal    int     `json:"nominal,omitempty"`
	Seed       uint64  `json:"seed,string"`
	Rounds     int     `json:"rounds,omitempty"`
	Order      int     `json:"order,omitempty"`
	Coarse     int     `json:"coarse,omitempty"`
	ClassPart  float64 `json:"class_part,omitempty"`
	Known      int     `json:"known_columns,omitempty"`
	TrendPart  float64 `json:"trend_part,omitempty"`
	// Noise is for readers of the plan; it is computed again when a plan is read.
	Noise   float64          `json:"noise_multiplier,omitempty"`
	Choices defaults.Choices `json:"choices,omitempty"`
}

// Config returns the configuration in JSON.
func (w work) Config() (json.RawMessage, error) {
	j := planJSON{Bins: w.Bins, Fine: w.Fine, Cells: w.Cells, ColumnPart: w.ColumnPart,
		WithinPart: w.WithinPart, Nominal: w.Nominal, Seed: w.Seed, Rounds: w.rounds, Order: w.order,
		Coarse: w.coarse, Known: w.before, TrendPart: w.trendPart, Noise: w.noise, Choices: w.choices}
	if s, ok := w.strategy.(worstFitted); ok {
		j.ClassPart = s.classPart
	}
	return json.Marshal(j)
}

// Systems returns the functions that read plans and generators of this package.
func Systems() synth.Systems {
	return synth.Systems{
		system(nameAIM, func(c Common, j planJSON) (synth.PassProgram, error) {
			return AIM{Common: c, Rounds: j.Rounds, Order: j.Order, Coarse: j.Coarse, known: j.Known,
				ClassPart: cmp.Or(j.ClassPart, noClassPart),
				trend:     cmp.Or(j.TrendPart, noTrend)}.Plan()
		}),
		system(nameMST, func(c Common, _ planJSON) (synth.PassProgram, error) {
			return MST{c}.Plan()
		}),
	}
}

func system(name string, plan func(Common, planJSON) (synth.PassProgram, error)) synth.System {
	return synth.System{Name: name, Model: readModel,
		Plan: func(s synth.SavedPlan) (synth.Plan, error) {
			var j planJSON
			if err := s.Decode(&j); err != nil {
				return nil, err
			}
			// With 5 parameters of a network for a cell, plans have the default limits of models.
			if err := s.Network("the tables", 5*int64(j.Cells)); err != nil && j.Cells > defaultCells {
				return nil, err
			}
			return synth.PlanOf(plan(Common{Schema: s.Schema, Budget: s.Budget, Nominal: j.Nominal,
				Seed: j.Seed, Bins: j.Bins, Fine: j.Fine, Cells: j.Cells, ColumnPart: j.ColumnPart,
				WithinPart: cmp.Or(j.WithinPart, noWithin), choices: j.Choices}, j))
		}}
}

func malformed(why string) error { return fmt.Errorf("tables: %w: %s", synth.ErrFormat, why) }
