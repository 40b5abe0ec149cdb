package mix

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// Progress is how far a run is, in public numbers only.
type Progress struct {
	Stage    string // PurposeCenters or PurposeMixtures
	Step, Of int
	Epsilon  float64 // of everything released so far, at the budget's δ; informational
	Elapsed  time.Duration
}

// Option is something about a run that cannot change its guarantee.
type Option func(*options)

type options struct {
	workers  int
	progress func(Progress)
}

// WithWorkers mixes on so many goroutines; default runtime.GOMAXPROCS.
func WithWorkers(n int) Option { return func(o *options) { o.workers = n } }

// WithProgress is called after the means and after every chunk of mixtures, on the goroutine that called Fit.
func WithProgress(f func(Progress)) Option { return func(o *options) { o.progress = f } }

// newOptions has a default for whatever is nil.
func newOptions(opts []Option) options {
	o := options{workers: runtime.GOMAXPROCS(0)}
	for _, apply := range opts {
		if apply != nil {
			apply(&o)
		}
	}
	if o.progress == nil {
		o.progress = func(Progress) {}
	}
	return o
}

// Fit carries out a plan on private records and returns the released rows.
//
// Guarantee: everything in the model, and everything passed to the progress function, is a function of releases
// that the ledger holds; the events are the plan's, all reserved before a record is read. An interrupted run keeps
// what it reserved.
// Noise class: exact.
// Errors: ErrSchema, ErrRecords, accountant.ErrBudgetExceeded before anything is drawn, ctx.Err();
// *param.Error for what is nil and must not be. No error depends on a record's value, nor, under add/remove,
// on the number of records.
func Fit(ctx context.Context, p *Plan, data records.Data, ledger *accountant.Ledger, opts ...Option) (*Model, error) {
	r, err := open(ctx, p, data, ledger, opts)
	if err != nil {
		return nil, err
	}
	own := *p // what the caller does with the plan from now on is no part of the model
	m := &Model{plan: &own, rows: newRows(p, p.Config.Mixtures)}
	done := 0
	for chunk, err := range r.chunks(ctx) {
		if err != nil {
			return nil, err
		}
		m.rows.put(done, chunk)
		done += chunk.Len()
	}
	m.centers, m.guarantee = r.source.centers, ledger.Guarantee()
	return m, nil
}

// Stream is Fit without keeping the rows: it hands them out in chunks, in memory that does not grow with the
// number of mixtures. A chunk is the receiver's. Whoever stops early has spent the whole plan.
//
// Guarantee and Errors: those of Fit.
func Stream(ctx context.Context, p *Plan, data records.Data, ledger *accountant.Ledger,
	opts ...Option) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		r, err := open(ctx, p, data, ledger, opts)
		if err != nil {
			yield(nil, err)
			return
		}
		for chunk, err := range r.chunks(ctx) {
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// run is one release under way.
type run struct {
	options
	plan   *Plan
	ledger *accountant.Ledger
	source *source
	means  *mechanism.Allowance // nil without centres
	lanes  []*lane
	start  time.Time
}

// open checks what is public and reserves everything.
func open(ctx context.Context, p *Plan, data records.Data, ledger *accountant.Ledger, opts []Option) (*run, error) {
	if err := p.fits(data, ledger); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &run{plan: p, ledger: ledger, start: time.Now(), options: newOptions(opts)}
	if err := r.reserve(ctx); err != nil {
		return nil, err
	}
	r.source = newSource(p.Config, records.Clamped(data))
	return r, nil
}

func (p *Plan) fits(data records.Data, ledger *accountant.Ledger) error {
	if err := p.made(); err != nil {
		return err
	}
	c := p.Config
	switch {
	case data == nil:
		return mistake("Fit.data", nil, "records")
	case !data.Schema().Equal(c.Schema):
		return ErrSchema
	}
	if err := system.CheckLedger("mix.Fit.ledger", ledger, c.Budget.Relation); err != nil {
		return err
	}
	if err := system.CheckUnit("mix.Fit.data", ledger, records.UnitOf(data)); err != nil {
		return err
	}
	if n, _ := c.Sampling.public(); c.Budget.Relation == accountant.ReplaceOne && data.Len() != n {
		return ErrRecords
	}
	return system.Affordable("mix", ledger, c.total(p.Event))
}

// reserve sets aside everything the plan will release. Classes are disjoint parts of the records, each with a
// ledger of its own.
func (r *run) reserve(ctx context.Context) error {
	c := r.plan.Config
	all := mechanism.Begin(ctx, r.ledger)
	if c.Centers.wanted() {
		var err error
		if r.means, err = all.Reserve(PurposeCenters, gaussian(c.Centers.NoiseMultiplier), 1); err != nil {
			return err
		}
	}
	runs := []*mechanism.Run{all}
	if c.ByClass {
		children, err := r.ledger.Disjoint(PurposeMixtures+" of one class", c.parts())
		if err != nil {
			return err
		}
		runs = runs[:0]
		for _, child := range children {
			runs = append(runs, mechanism.Begin(ctx, child))
		}
	}
	return r.open(runs)
}

// open makes the lanes: fixed in number, whatever the machine, and each with randomness of its own. Mixture t
// comes from lane t modulo their number, and is of part t modulo the number of parts.
func (r *run) open(runs []*mechanism.Run) error {
	parts := len(runs)
	each := max(1, (fewestLanes+parts-1)/parts)
	count := parts * each
	for i := range count {
		l := &lane{part: i % parts, left: (r.plan.Config.Mixtures - i + count - 1) / count}
		r.lanes = append(r.lanes, l)
		if l.left < 1 {
			continue
		}
		var err error
		if l.allowance, err = runs[l.part].Reserve(r.plan.purpose(l.part), r.plan.Event, l.left); err != nil {
			return err
		}
	}
	return nil
}

const fewestLanes = 8

// purpose is what a part's ledger line says.
func (p *Plan) purpose(part int) string {
	if !p.Config.ByClass {
		return PurposeMixtures
	}
	return fmt.Sprintf("%s of class %d", PurposeMixtures, part)
}

func (r *run) report(stage string, step, of int) {
	r.progress(Progress{Stage: stage, Step: step, Of: of, Epsilon: r.ledger.EpsilonSoFar(),
		Elapsed: time.Since(r.start)})
}
