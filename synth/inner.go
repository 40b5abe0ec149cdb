package synth

import (
	"context"
	"fmt"
	"reflect"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// An Inner is a plan that is carried out as one part of a run of several plans. It uses the records
// and the reservation of that run; see [Run.FitInner]. Package compose runs plans in this way.
type Inner struct {
	Plan   Plan
	Prefix string // put before the purposes of the plan's stages to name them in the run
	// Data holds the records that the part reads in place of the run's; nil for the run's own. Record
	// i must be computed from record i of the run by a function that depends on public and released
	// values only. Otherwise the part's noise does not cover its result.
	Data records.Data
	// Saved is the state from which the part resumes; nil if it starts anew.
	Saved *File
	// Keep returns the run's state for a given state of the part.
	Keep func(*File) (*File, error)
}

// base returns p. Plans that embed a Program inherit this method, which gives access to the
// Program.
func (p *Program) base() *Program { return p }

// programOf returns the program of a plan; nil for a plan without one and for a nil pointer, whose
// promoted methods would panic.
func programOf(p Plan) *Program {
	if v := reflect.ValueOf(p); p == nil || v.Kind() == reflect.Pointer && v.IsNil() ||
		len(p.Stages()) == 0 {
		return nil
	}
	if b, ok := p.(interface{ base() *Program }); ok {
		return b.base()
	}
	return nil
}

// WorkOf returns the Work of a plan; nil for a plan that does not embed a Program and for the
// zero value.
func WorkOf(p Plan) Work {
	if program := programOf(p); program != nil {
		return program.work
	}
	return nil
}

// Stages returns the stages of the plan under their names within the run.
func (in Inner) Stages() []Stage {
	program := programOf(in.Plan)
	if program == nil {
		return nil
	}
	list := program.Stages()
	for i := range list {
		list[i].Purpose = in.Prefix + list[i].Purpose
	}
	return list
}

// Releases returns the schema of the records that the plan's generators draw. A Work whose
// generators draw records of another schema than the plan's, such as records without labels, has a
// method Releases that returns it.
func (in Inner) Releases() records.Schema {
	if w, ok := WorkOf(in.Plan).(interface{ Releases() records.Schema }); ok {
		return w.Releases()
	}
	return in.Plan.Schema()
}

// enclosing describes a part and the run that contains it.
type enclosing struct {
	run  *Run
	part Inner
}

// inner returns the run that carries out a part.
func (r *Run) inner(in Inner) (*Run, error) {
	program := programOf(in.Plan)
	if program == nil || r.program == nil {
		return nil, param.New("synth.Inner.Plan", in.Plan, "a plan that embeds a synth.Program")
	}
	data := r.Data
	if in.Data != nil {
		data = records.Clamped(in.Data)
	}
	sub := &Run{Data: data, Ledger: r.Ledger, Backend: r.Backend, options: r.options,
		program: program, start: r.start, keeper: r.keeper, outer: &enclosing{r, in},
		transaction: r.transaction, allowed: map[string][]*mechanism.Allowance{}}
	for _, s := range program.stages {
		sub.allowed[s.Purpose] = r.allowed[in.Prefix+s.Purpose]
		for _, a := range sub.allowed[s.Purpose] {
			a.RefuseWhen(sub.failed)
		}
	}
	return sub, nil
}

// JudgeInner makes the checks of a part that come before the run's reservation; see [Judge].
//
// Errors: all errors of the part's Judge; *param.Error for a plan that cannot be a part.
func (r *Run) JudgeInner(in Inner) error {
	sub, err := r.inner(in)
	if err != nil {
		return err
	}
	if j, ok := sub.program.work.(Judge); ok {
		return j.Judge(sub)
	}
	return nil
}

// FitInner carries out a part. The part draws from the allowances of the run's stages that have the
// part's prefix. Its progress reports and its state go to the run.
//
// Guarantee: nothing is reserved, since the run's plan holds the part's Stages. Errors: all errors
// of the part; ErrData if the data failed during the part, whose results must then be discarded;
// *param.Error for a plan that cannot be a part, and for stages that the run's plan lacks.
func (r *Run) FitInner(ctx context.Context, in Inner) (Model, error) {
	sub, err := r.inner(in)
	if err != nil {
		return nil, err
	}
	if err := sub.complete(in); err != nil {
		return nil, err
	}
	m, err := sub.program.work.Fit(ctx, sub)
	if err == nil {
		err = sub.failed()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.program.system, err)
	}
	return m, nil
}

// complete checks a part before it draws anything.
func (r *Run) complete(in Inner) error {
	var k param.Checker
	for _, s := range r.program.stages {
		k.OK(r.allowed[s.Purpose] != nil, "synth.Inner.Prefix", in.Prefix+s.Purpose,
			"the name of a stage of the run's plan")
	}
	k.OK(in.Data == nil || in.Data.Schema().Equal(in.Plan.Schema()), "synth.Inner.Data",
		"[records]", "records of the plan's schema")
	return k.Err()
}

// full returns the name of a stage in the checkpoint.
func (r *Run) full(purpose string) string {
	if r.outer == nil {
		return purpose
	}
	return r.outer.run.full(r.outer.part.Prefix + purpose)
}

// keep passes a part's state on to the run that contains it.
func (e *enclosing) keep(state func() (*File, error)) {
	if state == nil {
		e.run.Keep(nil)
		return
	}
	e.run.Keep(func() (*File, error) {
		f, err := state()
		if f == nil || err != nil || e.part.Keep == nil {
			return f, err
		}
		return e.part.Keep(f)
	})
}
