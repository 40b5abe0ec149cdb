package synth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// Fit runs the plan on a new ledger. See [Plan].
//
// Errors: see [Plan].
func (p *Program) Fit(ctx context.Context, data records.Data, opts ...Option) (*Generator, error) {
	data = records.Clamped(data)
	own := ledger.New(p.Budget(), ledger.WithUnit(records.UnitOf(data)))
	return p.FitOn(ctx, own, data, opts...)
}

// FitOn runs the plan on a ledger shared with other work. See [Plan].
//
// Guarantee and Errors: see [Plan].
func (p *Program) FitOn(ctx context.Context, ledger *ledger.Ledger, data records.Data,
	opts ...Option) (*Generator, error) {
	if data == nil {
		return nil, param.New(p.System()+".Fit.data", nil, "records")
	}
	return Carry(ctx, p, ledger, data, func(r *Run) (Model, error) {
		return p.work.Fit(ctx, r)
	}, opts...)
}

// Carry reserves the stages and calls fit to run them, as FitOn does with the system's own work. It
// is for releases that precede a generator, and for records that are not a records.Data. If data is
// nil, fit is responsible for the schema and the unit of the records that it reads.
//
// Guarantee and Errors: see Plan.FitOn.
func Carry(ctx context.Context, p *Program, ledger *ledger.Ledger, data records.Data,
	fit func(*Run) (Model, error), opts ...Option) (*Generator, error) {
	r, err := begin(ctx, p, ledger, data, opts)
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	if r.keeper != nil {
		defer r.keeper.close() // takes effect only if fit panics
	}
	defer r.over.Store(true) // takes effect only if fit panics
	m, err := fit(r)
	if records.Failed(r.Data) {
		err = fmt.Errorf("%s: %w", p.system, ErrData)
	}
	r.over.Store(true)
	if err == nil && m != nil { // nil for releases without a generator
		err = diverged(m)
	}
	if err = r.end(err); err != nil {
		return nil, err
	}
	g := r.generator(m)
	return g, r.ledTo(g)
}

// diverged returns an error for a model whose numbers are not finite, which no file can hold.
func diverged(m Model) error {
	_, err := m.Encode()
	var value *json.UnsupportedValueError
	if errors.Is(err, errNotFinite) || errors.As(err, &value) {
		return fmt.Errorf("the fit is of no use: %w", err)
	}
	return nil
}

// Pending returns the transaction that FitOn with the same arguments would reserve on the ledger.
// It has the ID of the checkpoint, if there is one, so the ledger knows whether it holds it: see
// ledger.Ledger.Affords. Pending makes the checks of FitOn that precede the reservation, and
// reserves nothing.
//
// Errors: all errors of FitOn before its reservation; *param.Error for a plan that does not embed a
// Program.
func Pending(ctx context.Context, p Plan, ledger *ledger.Ledger, data records.Data,
	opts ...Option) (t ledger.Transaction, err error) {
	r, err := begin(ctx, programOf(p), ledger, data, opts)
	if err != nil {
		return t, err
	}
	t = r.program.transaction(r.keep != nil)
	if r.keep == nil {
		return t, nil
	}
	k, err := r.keep(ctx, r)
	if err != nil {
		return t, err
	}
	if !k.fresh {
		err = k.begin(&t)
	}
	return t, errors.Join(err, k.lock.Close())
}

// begin makes the checks that precede everything else.
func begin(ctx context.Context, p *Program, ledger *ledger.Ledger, data records.Data,
	opts []Option) (*Run, error) {
	o, err := collect(opts)
	if err := errors.Join(p.made(), err); err != nil {
		return nil, err
	}
	r := &Run{Data: records.Clamped(data), Ledger: ledger, Backend: o.backend, options: o, program: p,
		start: time.Now()}
	return r, r.judge(ctx)
}

// A Judge is a Work that can predict the failure of a run from public facts. Judge is called before
// anything is reserved. It may use only facts about the data that the plan declares public. With
// records of other processes, JudgePass(context.Context, *Run) error follows: it may make a pass.
type Judge interface {
	Judge(r *Run) error
}

// judge makes the checks that come before the reservation. They use public facts only.
func (r *Run) judge(ctx context.Context) error {
	p := r.program
	if r.Ledger == nil {
		return param.New(p.system+".Fit.ledger", nil, "a ledger")
	}
	if got, want := r.Ledger.Relation(), p.budget.Relation; got != want {
		return param.New(p.system+".Fit.ledger", got, "the plan's relation, "+want.String())
	}
	if p.schema.RowsPerPerson() > 0 && r.Ledger.Unit() == records.UnitRecord {
		return param.New(p.system+".Fit.ledger", "a ledger that protects one record",
			"a ledger made with ledger.WithUnit(records.UnitUser), since the plan is for persons")
	}
	if data := r.Data; data != nil {
		if records.Failed(data) {
			return fmt.Errorf("%s: %w", p.system, ErrData)
		}
		if !data.Schema().Equal(p.schema) {
			return fmt.Errorf("%s: %w: %s", p.system, ErrSchema, records.Difference(data.Schema(), p.schema))
		}
		if err := records.CheckPersons(p.system+".Fit.data", data, p.schema); err != nil {
			return err
		}
		err := records.CheckUnitOf(p.system+".Fit.data", data, r.Ledger.Unit())
		if err != nil {
			return err
		}
	}
	if j, ok := p.work.(Judge); ok {
		if err := j.Judge(r); err != nil {
			return err
		}
	}
	type reads = interface {
		JudgePass(context.Context, *Run) error
	}
	if j, ok := p.work.(reads); ok && r.Elsewhere() && ctx.Err() == nil {
		return j.JudgePass(ctx, r)
	}
	return ctx.Err()
}

// FreeRun returns a run that draws nothing private, such as training against an earlier
// release with the given guarantee. It has no data, no ledger and no allowances.
//
// Errors: *param.Error for options that do not apply, such as a checkpoint or previews.
func FreeRun(g ledger.Guarantee, opts ...Option) (*Run, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	if o.keep != nil {
		return nil, param.New("privgen.Checkpoint", o.checkpoint,
			"left out, since this run makes no private releases")
	}
	if o.preview != nil {
		return nil, param.New("privgen.OnPreview", "a function",
			"left out, since this run has no private steps")
	}
	return &Run{Backend: o.backend, options: o, epsilon: g.Epsilon, start: time.Now()}, nil
}

// A Run is a fit in progress: its data and its reserved draws. A system receives it in its Fit
// and must not keep it.
type Run struct {
	Data    records.Data // with every value clamped to the schema
	Ledger  *ledger.Ledger
	Backend device.Backend

	options
	program *Program
	start   time.Time
	epsilon float64 // of a run without a ledger
	allowed map[string][]*mechanism.Allowance
	keeper  *keeper         // nil without a checkpoint
	real    map[string]bool // stages run by Once whose sums are inexact
	over    atomic.Bool     // reports whether fit has returned

	transaction string // its ID on the ledger; empty if it has none

	outer *enclosing // the run that this one is a part of; nil for none
}

// open reads the checkpoint, if there is one, and reserves every stage in one transaction.
func (r *Run) open(ctx context.Context) (err error) {
	opened := false
	t := r.program.transaction(r.keep != nil)
	if r.keep != nil {
		if r.keeper, err = r.keep(ctx, r); err != nil {
			return err
		}
		defer func() { // even if the ledger's policy panics
			if !opened {
				r.keeper.close()
			}
		}()
		if err := r.keeper.begin(&t); err != nil {
			return errors.Join(err, r.keeper.lock.Close())
		}
	}
	r.identify(&t)
	allowances, err := mechanism.ReserveAll(ctx, r.Ledger, t)
	if err != nil {
		err = fmt.Errorf("%s: %w", r.program.system, err)
		if r.keeper != nil {
			return r.keeper.abandon(err)
		}
		return err
	}
	r.allowed = map[string][]*mechanism.Allowance{}
	for i, a := range allowances {
		purpose := t.Lines[i].Purpose
		r.allowed[purpose] = append(r.allowed[purpose], a)
	}
	if r.keeper != nil {
		r.keeper.adopt(allowances)
	}
	for i, a := range allowances {
		a.Guard(func(spend func() error) error { return r.take(i, spend) })
		a.RefuseWhen(r.failed)
	}
	opened = true
	return nil
}

// take takes one use of a line, after the checkpoint has counted it. It returns an error if the
// data have failed.
func (r *Run) take(line int, spend func() error) error {
	if err := r.failed(); err != nil {
		return err
	}
	if r.keeper == nil {
		return spend()
	}
	return r.keeper.take(line, spend)
}

// failed returns an error if the data have failed or the run is over. It is called before every use
// and again before noise is drawn. After a failure of the data nothing is released, since the
// values read in their place do not come from the records. An allowance that outlives its run
// cannot draw.
func (r *Run) failed() error {
	switch {
	case records.Failed(r.Data):
		return fmt.Errorf("%s: %w", r.program.system, ErrData)
	case r.over.Load():
		return errOver
	case r.outer != nil:
		return r.outer.run.failed()
	}
	return nil
}

// transaction returns the whole plan as one transaction. If inShares is set, as it is for a run
// with a checkpoint, a stage with the field Once is drawn in shares.
func (p *Program) transaction(inShares bool) (t ledger.Transaction) {
	for _, s := range p.stages {
		if s.Once && inShares {
			z := s.Event.(accountant.Gaussian).NoiseMultiplier
			s.Event, s.Count = accountant.Gaussian{NoiseMultiplier: z * shareNoise}, shares
		}
		group := 0
		if s.parts() > 1 {
			t.Groups = append(t.Groups, ledger.Parts{Purpose: s.Purpose, N: s.parts(), Fixed: s.Fixed,
				MovesCovered: s.MovesCovered})
			group = len(t.Groups)
		}
		for part := range s.parts() {
			for lane := range s.lanes() {
				if n := s.lane(lane); n > 0 {
					t.Lines = append(t.Lines, ledger.Line{Purpose: s.Purpose, Event: s.Event, Count: n,
						Group: group, Part: part})
				}
			}
		}
	}
	return t
}

// once reports whether the stage of this purpose has the field Once set.
func (p *Program) once(purpose string) bool {
	return slices.ContainsFunc(p.stages, func(s Stage) bool { return s.Once && s.Purpose == purpose })
}

// ReleaseBackend returns a backend for released networks: the run's own, or a fresh one of the same
// kind if the run's scratch memory holds private rows. See device.Fresh.
func (r *Run) ReleaseBackend() device.Backend { return device.Fresh(r.Backend) }

// Allowance returns the draws of a stage with one part and one lane.
func (r *Run) Allowance(purpose string) *mechanism.Allowance {
	if a := r.allowed[purpose]; len(a) > 0 {
		return a[0]
	}
	return nil
}

// Allowances returns the draws of a stage, ordered by part and, within a part, by lane. Lanes
// without a release are left out.
func (r *Run) Allowances(purpose string) []*mechanism.Allowance { return r.allowed[purpose] }

// Report reports the progress of a stage to the run's observer.
func (r *Run) Report(stage string, step, of int) {
	if r.progress == nil {
		return
	}
	if r.outer != nil {
		r.outer.run.Report(r.outer.part.Prefix+stage, step, of)
		return
	}
	epsilon := r.epsilon
	if r.Ledger != nil {
		epsilon = r.Ledger.EpsilonSoFar()
	}
	r.progress(Progress{Stage: stage, Step: step, Of: of, Epsilon: epsilon,
		Elapsed: time.Since(r.start)})
}

// Preview passes the current generator to the run's observer, if a preview is due after this step.
//
// Errors: all errors of the function model.
func (r *Run) Preview(step int, model func() (Model, error)) error {
	if r.preview == nil || step%r.previewEvery != 0 {
		return nil
	}
	if r.program == nil {
		return errFree
	}
	m, err := model()
	if err != nil {
		return err
	}
	r.preview(step, r.generator(m))
	return nil
}

// errFree is the error of methods that a run without private releases does not support.
var errFree = errors.New("this run has no plan: it draws nothing private")

// Guarantee returns the ledger's guarantee so far, with the plan's largest number of rows per unit.
func (r *Run) Guarantee() ledger.Guarantee {
	g := r.Ledger.Guarantee()
	g.RowsPerUnit = r.program.schema.RowsPerPerson()
	return g
}

func (r *Run) generator(m Model) *Generator {
	return &Generator{system: r.program.system, model: m, guarantee: r.Guarantee()}
}

// end closes the checkpoint and returns err or, if err is nil, the error of closing.
func (r *Run) end(err error) error {
	if r.keeper == nil {
		return err
	}
	return r.keeper.end(err)
}
