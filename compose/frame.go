package compose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A composition states what distinguishes one kind of composed system from the others: which stages
// it adds, what its parts read, and what is released. Its value holds checked and calibrated
// settings. The frame does everything else.
type composition interface {
	// kind names the system and says how its files are read.
	kind() kind
	// reads returns the schema of the records that a part reads.
	reads(part int) records.Schema
	// view returns the records that a part reads, as far as they are known before a release.
	view(part int, data records.Data) records.Data
	// stages returns the composition's own stages, before and after those of the parts.
	stages() (before, after []synth.Stage)
	// title describes the generator, which is made of the named systems. The notes are lines of the
	// plan's text that precede the notes of the parts.
	title(of []string) string
	notes(of []synth.Plan) []string
	// types returns the settings of user-defined types.
	types() []any
	// settings returns the composition's part of the plan's JSON, which embeds the plans.
	settings() (any, error)
	// fit carries out the stages and the parts, and returns what is released.
	fit(ctx context.Context, r *run) (*model, error)
}

// A level says what a composition does with its parts. A composition has parts of lower levels
// only, so a reader of files knows which systems a file may contain, and how deep.
type level int

// The levels. Systems of other packages have level 0.
const (
	readLevel   level       = iota + 1 // it changes what its part reads
	joinLevel                          // it draws from several parts
	chooseLevel                        // it chooses among the records drawn
	changeLevel                        // it changes the records drawn
	openLevel                          // it finds the levels of the records
	linkLevel   = openLevel            // it draws rows of several tables, whose levels are declared
)

// A kind describes the compositions of one type, for messages and for files.
type kind struct {
	name        string // of the system
	config      string // the type of the configuration, with its package
	of          string // the field of the configuration that holds the parts
	level       level
	least, most int  // number of parts
	persons     bool // whether the records may be persons with several rows
	// networks is the number of networks that the composition itself builds when a file is read. They
	// share the limits for files with the parts.
	networks int
	// reads returns the schema of the records that the parts read; nil if it is the composition's. It
	// is not asked if each part reads others (apart); design then checks them.
	reads func(records.Schema) (records.Schema, error)
	apart bool
	// design reads the settings of a saved plan with the given parts, which are of the given systems.
	design func(s synth.SavedPlan, of []synth.Plan) (synth.Design, error)
	// release reads what a generator holds beside the models of its parts.
	release func(f *synth.File, of []synth.Model, l synth.Loading) (released, error)
}

// path returns the path of part i in messages.
func (k kind) path(i int) string {
	if k.most == 1 {
		return k.field(k.of)
	}
	return fmt.Sprintf("%s[%d]", k.field(k.of), i)
}

// field returns the path of a field of the configuration in messages.
func (k kind) field(name string) string { return k.config + "." + name }

// begin returns a checker after the checks that all compositions share.
func (k kind) begin(s records.Schema, b accountant.Budget, of []synth.Design) (c param.Checker) {
	c.Add(b.Validate())
	if !k.persons {
		c.Add(records.RefusePersons(k.config+".PlanFor.s", s))
	}
	c.OK(len(of) >= k.least && len(of) <= k.most, k.field(k.of), fmt.Sprintf("%d systems", len(of)),
		fmt.Sprintf("%d to %d systems", k.least, k.most))
	for i, d := range of {
		c.OK(d != nil, k.path(i), nil, "a design of a system, such as a configuration")
	}
	return c
}

// levelOf returns the level of a plan.
func levelOf(p synth.Plan) level {
	if f, ok := synth.WorkOf(p).(interface{ kind() kind }); ok {
		return f.kind().level
	}
	return 0
}

// checkPart checks the plan of a part.
func checkPart(c composition, i int, p synth.Plan, relation accountant.Relation) error {
	var k param.Checker
	own := c.kind()
	path := own.path(i)
	if synth.WorkOf(p) == nil {
		return param.New(path, nil, "a plan that embeds a synth.Program, as plans of all systems do")
	}
	k.OK(levelOf(p) < own.level, path, p.System(), "a system that stands before "+own.config+
		" in the list of package compose")
	if !own.persons {
		k.Add(records.RefusePersons(path+".Schema", p.Schema()))
	}
	k.OK(p.Schema().Equal(c.reads(i)), path+".Schema", p.Schema(),
		"the schema of the records that it reads: "+records.Difference(p.Schema(), c.reads(i)))
	k.OK(p.Budget().Relation == relation, path+".Budget.Relation", p.Budget().Relation,
		"the relation of the whole, "+relation.String())
	released := synth.Inner{Plan: p}.Releases()
	k.OK(released.Equal(p.Schema()), path, released, "a system whose synthetic records have the "+
		"schema of its plan, labels included: "+records.Difference(released, p.Schema()))
	return k.Err()
}

// A frame is the work of a composed system.
type frame struct {
	composition
	plans []synth.Plan
}

// A personFrame is the work of a composed system for persons.
type personFrame struct{ *frame }

// TakesPersons implements [synth.PersonWork].
func (personFrame) TakesPersons() {}

// planOf divides the budget, plans the parts and prices all stages together. It gives the parts
// less until they do not cost more together than the budget.
func planOf(c composition, s records.Schema, b accountant.Budget, of []synth.Design) (synth.Plan,
	error) {
	n := float64(len(of))
	plans, err := divide(n, c, b, of)
	for errors.Is(err, accountant.ErrBudgetExceeded) && n < 8*float64(len(of)) {
		n *= 1.3
		plans, err = divide(n, c, b, of)
	}
	if err != nil {
		return nil, err
	}
	return priced(c, s, b, plans)
}

// priced returns the plan of a composition of planned parts.
func priced(c composition, s records.Schema, b accountant.Budget, plans []synth.Plan) (synth.Plan,
	error) {
	f := &frame{c, plans}
	var w synth.Work = f
	if c.kind().persons {
		w = personFrame{f}
	}
	p, err := synth.NewProgram(c.kind().name, s, b, f.allStages(), w)
	return synth.PlanOf(&p, err)
}

// allStages returns the composition's own stages and those of its parts.
func (f *frame) allStages() []synth.Stage {
	before, after := f.stages()
	return slices.Concat(before, f.partStages(), after)
}

// partStages returns the stages of the parts under their names within the run.
func (f *frame) partStages() (list []synth.Stage) {
	for _, part := range f.parts() {
		list = append(list, part.Stages()...)
	}
	return list
}

// parts returns the plans with the prefixes of their stages.
func (f *frame) parts() (list []synth.Inner) {
	for i, p := range f.plans {
		prefix := p.System() + ": "
		if f.kind().most > 1 {
			prefix = fmt.Sprintf("%d %s", i+1, prefix)
		}
		list = append(list, synth.Inner{Plan: p, Prefix: prefix})
	}
	return list
}

// systems returns the names of the parts' systems.
func (f *frame) systems() (names []string) {
	for _, p := range f.plans {
		names = append(names, p.System())
	}
	return names
}

// Title names the parts' systems.
func (f *frame) Title() string { return f.title(f.systems()) }

// Notes returns the composition's own notes and those of its parts.
func (f *frame) Notes() []string {
	notes := f.notes(f.plans)
	for _, part := range f.parts() {
		work := synth.WorkOf(part.Plan)
		notes = append(notes, part.Prefix+work.Title())
		for _, note := range work.Notes() {
			notes = append(notes, part.Prefix+note)
		}
	}
	return notes
}

// Plans implements [synth.Nested].
func (f *frame) Plans() []synth.Plan { return f.plans }

// Parts implements [synth.Typed].
func (f *frame) Parts() []any {
	list := f.types()
	for _, p := range f.plans {
		if typed, ok := synth.WorkOf(p).(synth.Typed); ok {
			list = append(list, typed.Parts()...)
		}
	}
	return list
}

// Judge makes the checks of all parts.
func (f *frame) Judge(r *synth.Run) error {
	for i, part := range f.parts() {
		if r.Data != nil {
			part.Data = f.view(i, r.Data)
		}
		if err := r.JudgeInner(part); err != nil {
			return err
		}
	}
	if j, ok := f.composition.(synth.Judge); ok {
		return j.Judge(r)
	}
	return nil
}

// planJSON is the configuration of every composition in a file: the parts' plans and its own
// settings.
type planJSON struct {
	Plans    []json.RawMessage `json:"plans"`
	Settings json.RawMessage   `json:"settings"`
}

// Config writes the settings and the parts' plans.
//
// Errors: all errors of the plans' MarshalJSON; settings of a user-defined type.
func (f *frame) Config() (json.RawMessage, error) {
	var j planJSON
	for _, p := range f.plans {
		text, err := p.MarshalJSON()
		if err != nil {
			return nil, err
		}
		j.Plans = append(j.Plans, text)
	}
	settings, err := f.settings()
	if err != nil {
		return nil, err
	}
	if j.Settings, err = json.Marshal(settings); err != nil {
		return nil, err
	}
	return json.Marshal(j)
}
