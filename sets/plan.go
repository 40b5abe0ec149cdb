package sets

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Common holds the settings of every method. All of them are public.
type Common struct {
	Schema records.Schema
	Budget accountant.Budget
	// MaxItems is the largest number of items of a record that are used, chosen by a fixed function of
	// the record. 0 means the method's default.
	MaxItems int
	Seed     uint64 // of public randomness
	// Nominal is the approximate number of records, which must be public. If MaxItems is 0, its
	// default is derived from Nominal. The guarantee does not depend on it.
	Nominal int

	choices defaults.Choices // made by the default rules
}

// chosen returns the settings with MaxItems filled in if Nominal is set. The value is fallback or,
// if fallback is 0, a number that few records exceed, since the noise of every count grows with
// MaxItems.
func (c Common) chosen(fallback int) Common {
	if c.Nominal == 0 || c.MaxItems != 0 {
		return c
	}
	most, why := fallback, "the method's default"
	if fallback == 0 {
		most, why = min(int(3*math.Sqrt(float64(c.Schema.MaxItems()))), 40), // few records have more
			"few records have more items, and the noise of every count grows with it"
	}
	defaults.Fill(&c.choices, &c.MaxItems, min(most, c.Schema.MaxItems()), "MaxItems", why)
	return c
}

func (c Common) validate() *param.Checker {
	var k param.Checker
	const path = "sets.Common."
	k.Add(c.Budget.Validate())
	if err := c.Schema.Validate(); err != nil {
		k.Add(err)
		return &k
	}
	k.OK(c.Schema.Sparse() && c.Schema.Classes() == 0, path+"Schema", c.Schema.String(),
		"sets without classes; package merf supports the other kinds of records")
	k.OK(c.Nominal >= 0 && c.Nominal <= defaults.Largest, path+"Nominal", c.Nominal,
		"a public number of records, or 0 for none")
	k.OK(c.MaxItems >= 0 && c.MaxItems <= c.Schema.MaxItems(), path+"MaxItems", c.MaxItems,
		fmt.Sprintf("an integer from 1 to the schema's %d, or 0 for the default", c.Schema.MaxItems()))
	return &k
}

// The names of the systems in files and errors, and of their stages.
const (
	nameIndependent = "independent"
	nameMWEM        = "mwem"

	purposeItems    = "item counts"
	purposeChoices  = "choices"
	purposeMeasures = "measurements"
)

// method is one of the synthesisers for sets, with all settings except its noise.
type method interface {
	name() string  // of the system, in files
	title() string // of the config, in errors
	common() Common
	config() any // in JSON; read back as a setJSON
	stages(noise float64) []synth.Stage
	passes() []string
	counter(p synth.Pass, noise float64) (*cutCounter, error)
	fit(ctx context.Context, r *synth.Run, noise float64) (sampler, error)
	// drawable reports whether the noise can be drawn on the grids of the counts. Otherwise a fit
	// would fail after it has spent its budget.
	drawable(noise float64) bool
}

// releasable reports whether Gaussian noise can be drawn for counts of records or of persons. The
// standard deviation must be from 1 to 2^45 steps of the grid, and releases with a checkpoint use
// up to three times the noise.
func releasable(s records.Schema, std float64) bool {
	grid := mechanism.CountGrid(std, s.RowsPerPerson() > 0)
	return std >= grid && std <= 0x1p43*grid
}

// work is a method with its noise.
type work struct {
	method
	noise float64
}

// newPlan returns the plan with the smallest noise that meets the budget.
func newPlan(m method) (synth.PassProgram, error) {
	c := m.common()
	noise, _, err := accountant.CalibrateNoise(c.Budget, func(noise float64) accountant.Event {
		return synth.Total(m.stages(noise)...)
	})
	if err != nil {
		return synth.PassProgram{}, fmt.Errorf("sets: noise of %s: %w", m.name(), err)
	}
	if !m.drawable(noise) {
		return synth.PassProgram{}, param.New("sets."+m.title()+".Budget", c.Budget.String(),
			"an ε for which the noise of a count is 2^-24 to 2^43 records, or 2^-24 to 2^22 persons")
	}
	return synth.NewPassProgram(m.name(), c.Schema, c.Budget, m.stages(noise), work{m, noise})
}

// TakesPersons marks that the system supports schemas with several rows per person: rows count with
// weights.
func (w work) TakesPersons() {}

// Title describes the records.
func (w work) Title() string { return w.common().Schema.String() }

// Notes lists the choices of the default rules.
func (w work) Notes() []string { return w.common().choices.Notes() }

// Fit runs the method.
func (w work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	s, err := w.fit(ctx, r, w.noise)
	if err != nil {
		return nil, err
	}
	return &model{schema: w.common().Schema, sampler: s}, nil
}

// setJSON is the configuration of a method for sets in a plan's JSON.
type setJSON struct {
	MaxItems int    `json:"max_items"`
	Rounds   int    `json:"rounds,omitempty"`
	Domain   int    `json:"domain,omitempty"`
	Queries  int    `json:"queries,omitempty"`
	Seed     uint64 `json:"seed,string"`
	// Noise is for readers of the plan; it is computed again when a plan is read.
	Noise float64 `json:"noise_multiplier,omitempty"`
	// Choices lists the values that the default rules chose, for readers of the plan.
	Choices defaults.Choices `json:"choices,omitempty"`
}

// Config returns the configuration in JSON.
func (w work) Config() (json.RawMessage, error) {
	j := w.config().(setJSON)
	j.Seed, j.Noise, j.Choices = w.common().Seed, w.noise, w.common().choices
	return json.Marshal(j)
}

// Systems returns the functions that read plans and generators of this package.
func Systems() synth.Systems {
	return synth.Systems{
		system(nameIndependent, func(c Common, _ setJSON) (synth.PassProgram, error) {
			return Independent{c}.Plan()
		}),
		system(nameMWEM, func(c Common, j setJSON) (synth.PassProgram, error) {
			return MWEM{c, j.Rounds, j.Domain, j.Queries}.Plan()
		}),
	}
}

func system(name string, plan func(Common, setJSON) (synth.PassProgram, error)) synth.System {
	return synth.System{Name: name, Model: readModel,
		Plan: func(s synth.SavedPlan) (synth.Plan, error) {
			var j setJSON
			if err := s.Decode(&j); err != nil {
				return nil, err
			}
			return synth.PlanOf(plan(Common{Schema: s.Schema, Budget: s.Budget, MaxItems: j.MaxItems,
				Seed: j.Seed, choices: j.Choices}, j))
		}}
}

func malformed(why string) error { return fmt.Errorf("sets: %w: %s", synth.ErrFormat, why) }
