package synth

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// Work is the part of a plan that each system defines: its description, its configuration and the
// run itself.
type Work interface {
	// Title describes in one line the generator that the plan makes.
	Title() string
	// Notes returns further lines of the plan's text; nil for none.
	Notes() []string
	// Config returns the system's part of the plan's JSON, from which the system reads the plan back.
	//
	// Errors: an error for a configuration that JSON cannot hold, for example because of a
	// user-defined architecture.
	Config() (json.RawMessage, error)
	// Fit runs the stages. It draws noise and samples from the run's allowances only and returns
	// released state only.
	Fit(ctx context.Context, r *Run) (Model, error)
}

// A PersonWork is a Work that accepts persons with several rows: it reads whole persons, with
// [records.RowsOf] or [records.AsPersons], instead of single records. Plans of other systems refuse
// a schema of persons.
type PersonWork interface{ TakesPersons() }

// A Program is the part of a plan that all systems share: its stages with their prices, their
// payment and the run. A system's plan embeds it. The zero value and nil can be printed and return
// an error when run.
type Program struct {
	system string
	schema records.Schema
	budget accountant.Budget
	stages []Stage
	total  accountant.Bound
	work   Work
}

// NewProgram prices all stages.
//
// Errors: accountant.ErrBudgetExceeded if the stages together cost more than the budget;
// accountant.ErrUnsupported if a stage has no known sound analysis; *param.Error for invalid
// stages, and for a plan whose generator could not be saved.
func NewProgram(system string, schema records.Schema, budget accountant.Budget, stages []Stage,
	w Work) (Program, error) {
	p := Program{system: system, schema: schema, budget: budget, stages: slices.Clone(stages), work: w}
	if err := p.check(); err != nil {
		return Program{}, err
	}
	for i := range p.stages {
		s := &p.stages[i]
		var err error
		if s.Epsilon, err = accountant.Epsilon(s.Whole(), budget.Delta, budget.Relation); err != nil {
			return Program{}, fmt.Errorf("%s: cost of %s: %w", system, s.Purpose, err)
		}
		if s.Epsilon.Lower > budget.Epsilon { // the other stages need not be priced
			return Program{}, overspent(system, s.Purpose, s.Epsilon, budget)
		}
	}
	if p.total = p.stages[0].Epsilon; len(p.stages) > 1 {
		var err error
		all := Total(p.stages...)
		if p.total, err = accountant.Epsilon(all, budget.Delta, budget.Relation); err != nil {
			return Program{}, fmt.Errorf("%s: cost of the whole run: %w", system, err)
		}
	}
	if p.total.Upper > budget.Epsilon {
		return Program{}, overspent(system, "the plan", p.total, budget)
	}
	if err := p.checkFile(); err != nil {
		return Program{}, err
	}
	return p, nil
}

func overspent(system, what string, cost accountant.Bound, budget accountant.Budget) error {
	return fmt.Errorf("%s: %s costs ε = %s, the budget is %g: %w", system, what,
		accountant.FormatUpper(cost.Upper, 4), budget.Epsilon, accountant.ErrBudgetExceeded)
}

func (p *Program) check() error {
	var k param.Checker
	k.OK(p.system != "", "synth.NewProgram.system", p.system, "a name")
	k.OK(p.work != nil, "synth.NewProgram.work", nil, "the system's Work")
	k.OK(len(p.stages) > 0, "synth.NewProgram.stages", len(p.stages), "at least one stage")
	if _, persons := p.work.(PersonWork); !persons {
		k.Add(records.RefusePersons(p.system+".Config.Schema", p.schema))
	}
	seen := map[string]bool{}
	for i, s := range p.stages {
		path := fmt.Sprintf("synth.NewProgram.stages[%d].", i)
		k.OK(s.Purpose != "" && !seen[s.Purpose], path+"Purpose", s.Purpose, "a distinct name")
		seen[s.Purpose] = true
		k.OK(s.Event != nil, path+"Event", nil, "an event")
		k.OK(s.Count > 0, path+"Count", s.Count, "a positive integer")
		k.OK(s.Lanes >= 0, path+"Lanes", s.Lanes, "a positive integer, or 0 for 1")
		k.OK(s.Parts >= 0, path+"Parts", s.Parts, "a positive integer, or 0 for 1")
		k.OK(s.parts() == 1 || s.MovesCovered || p.budget.Relation != accountant.ReplaceOne,
			path+"MovesCovered", false, "true for several parts under replace-one")
		if _, gaussian := s.Event.(accountant.Gaussian); s.Once {
			k.OK(gaussian && s.Count == 1 && s.parts() == 1 && s.lanes() == 1, path+"Once", true,
				"false unless the stage is a single Gaussian release")
		}
	}
	return k.Err()
}

// made returns an error for the zero value.
func (p *Program) made() error {
	if p == nil || p.work == nil {
		return param.New("synth.Plan", nil, "a plan made by a configuration's Plan or read from a file")
	}
	return nil
}

// known returns p, or the zero value if p is nil.
func (p *Program) known() *Program {
	if p == nil {
		return &Program{}
	}
	return p
}

// System returns the name of the system; "" for the zero value.
func (p *Program) System() string { return p.known().system }

// Schema returns the public schema of the records.
func (p *Program) Schema() records.Schema { return p.known().schema }

// Budget returns the budget that the plan was made for.
func (p *Program) Budget() accountant.Budget { return p.known().budget }

// Stages returns the priced stages.
func (p *Program) Stages() []Stage { return slices.Clone(p.known().stages) }

// Total returns ε of all stages together at the budget's δ, as an interval.
func (p *Program) Total() accountant.Bound { return p.known().total }

// String returns the plan's text: the price of every stage.
func (p *Program) String() string {
	if p.made() != nil {
		return "plan: not made yet"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "plan: %s, %s\n", p.system, param.OneLine(p.work.Title()))
	fmt.Fprintf(&b, "budget: ε = %g, δ = %g, %v\n", p.budget.Epsilon, p.budget.Delta,
		p.budget.Relation)
	if most := p.schema.RowsPerPerson(); most > 0 {
		g := ledger.Guarantee{Epsilon: p.total.Upper, Delta: p.budget.Delta,
			Relation: p.budget.Relation, Unit: records.UnitUser, RowsPerUnit: most}
		fmt.Fprintf(&b, "unit: %s\n", g.Units())
	}
	for _, s := range p.stages {
		b.WriteString(s.line())
	}
	for _, note := range p.work.Notes() {
		fmt.Fprintf(&b, "  %s\n", param.OneLine(note))
	}
	fmt.Fprintf(&b, "  together  ε = %s", accountant.FormatUpper(p.total.Upper, 4))
	return param.Lines(b.String(), "")
}

// planVersion is written into every plan; unknown versions are an error.
const planVersion = 2

// planJSON is a plan as stored in a file. The file states stages and prices for human readers;
// programs compute them again.
type planJSON struct {
	Version int               `json:"version"`
	System  string            `json:"system"`
	Schema  records.Schema    `json:"schema"`
	Budget  accountant.Budget `json:"budget"`
	Config  json.RawMessage   `json:"config"`
	Stages  json.RawMessage   `json:"stages,omitempty"`
	Epsilon *accountant.Bound `json:"epsilon,omitempty"`
}

// MarshalJSON returns the plan: its public parameters with every noise multiplier, and its price.
//
// Errors: *param.Error for the zero value; all errors of Work.Config.
func (p *Program) MarshalJSON() ([]byte, error) {
	j, err := p.parameters()
	if err != nil {
		return nil, err
	}
	if j.Stages, err = json.Marshal(p.stages); err != nil {
		return nil, err
	}
	j.Epsilon = &p.total
	return json.Marshal(j)
}

// parameters returns the plan without its price.
func (p *Program) parameters() (planJSON, error) {
	if err := p.made(); err != nil {
		return planJSON{}, err
	}
	config, err := p.work.Config()
	if err != nil {
		return planJSON{}, fmt.Errorf("%s: plan: %w", p.system, err)
	}
	return planJSON{Version: planVersion, System: p.system, Schema: p.schema, Budget: p.budget,
		Config: config}, nil
}
