package kmeans

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// stream keeps public randomness of a seed apart from other users of it.
const stream = 0x6b6d65616e73

// Fit clusters private records in feature space.
//
// Guarantee: [Config.Event] under the ledger's relation, one record as the
// unit, noise of the exact class. The whole event is reserved before any record
// is read; nothing that leaves depends on a record's value except through it.
// Cost: O(n·dim) memory up to the cache's bound, O(n·K·dim) time an iteration.
// Errors: configuration errors (*param.Error, joined), the ledger's
// (accountant.ErrBudgetExceeded) and the context's. After a cancellation the
// ledger still counts what was reserved.
func Fit(ctx context.Context, cfg Config, f Features, data records.Data, ledger *accountant.Ledger, opts ...Option) (*Model, error) {
	if err := check(cfg, f, data, ledger); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := newOptions(opts)
	run := mechanism.Begin(ctx, ledger)
	grants, err := reserve(run, cfg)
	if err != nil {
		return nil, err
	}
	l := &lloyd{cfg: cfg, opts: o, f: f, relation: run.Relation(), ledger: ledger, grants: grants,
		store: newStore(o.be, f, records.Clamped(data), o.cache), rng: rand.New(rand.NewPCG(o.seed, stream))}
	return l.run(ctx, data.Schema())
}

// check compares the configuration with features and schema: all public.
func check(cfg Config, f Features, data records.Data, ledger *accountant.Ledger) error {
	errs := []error{cfg.Validate()}
	missing := func(path, want string) {
		errs = append(errs, &param.Error{Path: path, Value: "nil", Want: want})
	}
	if ledger == nil {
		missing("kmeans.Fit.ledger", "a ledger")
	}
	if f == nil {
		missing("kmeans.Fit.f", "features")
	}
	if data == nil {
		missing("kmeans.Fit.data", "records")
	}
	if f == nil || data == nil {
		return errors.Join(errs...)
	}
	if ledger != nil {
		errs = append(errs, records.CheckUnit("kmeans.Fit.data", records.UnitOf(data), ledger.Unit()))
	}
	if f.Dim() < 1 {
		errs = append(errs, &param.Error{Path: "kmeans.Features.Dim", Value: f.Dim(), Want: "a positive integer"})
	} else if cfg.K > maxCoordinates/f.Dim() {
		errs = append(errs, &param.Error{Path: "kmeans.Config.K", Value: cfg.K,
			Want: fmt.Sprintf("at most %d coordinates of centres in all", maxCoordinates)})
	}
	if cfg.Norm == nil && cfg.ClipNorm == 0 && !isClipNorm(f.NormBound()) {
		errs = append(errs, &param.Error{Path: "kmeans.Config.ClipNorm", Value: 0.0, Want: "a clip norm or a DPNorm: these features have no bound of 2^-60 or more"})
	}
	if cfg.Init.Method == FromPublic && records.Overlap(cfg.Init.Records, data) {
		errs = append(errs, &param.Error{Path: "kmeans.Init.Records", Value: "the private records", Want: "public records"})
	}
	return errors.Join(append(errs, cfg.Init.check(f.Dim(), data.Schema()))...)
}

// grants hands out the right to each release. With a private clip norm the fit
// is one composed event, reserved at once: it fits whole or not at all.
type grants struct {
	whole      *mechanism.Grant
	iterations *mechanism.Allowance
}

func reserve(run *mechanism.Run, cfg Config) (grants, error) {
	var g grants
	var err error
	if cfg.Norm == nil {
		g.iterations, err = run.Reserve("k-means counts and sums", cfg.iteration(), cfg.Iterations)
		return g, err
	}
	g.whole, err = run.Spend("k-means clip norm, counts and sums", cfg.Event(run.Relation()))
	return g, err
}

func (g grants) next() (*mechanism.Grant, error) {
	if g.whole != nil {
		return g.whole, nil
	}
	return g.iterations.Next()
}

// lloyd is one fit under way.
type lloyd struct {
	cfg      Config
	opts     options
	f        Features
	relation accountant.Relation
	ledger   *accountant.Ledger
	grants   grants
	store    *store
	rng      *rand.Rand
}

func (l *lloyd) run(ctx context.Context, schema records.Schema) (*Model, error) {
	clip, err := l.clipNorm(ctx)
	if err != nil {
		return nil, err
	}
	l.store.setClip(clip)
	s := start{l.opts.be, l.f, schema, l.cfg.K, clip, l.rng}
	centers, err := l.cfg.Init.centers(ctx, s)
	if err != nil {
		return nil, err
	}
	return l.iterate(ctx, centers, s)
}

func (l *lloyd) clipNorm(ctx context.Context) (float64, error) {
	switch {
	case l.cfg.Norm != nil:
		return l.cfg.Norm.estimate(ctx, l.relation, l.grants.whole, l.store)
	case l.cfg.ClipNorm != 0:
		return l.cfg.ClipNorm, nil
	}
	return l.f.NormBound(), nil
}

func (l *lloyd) iterate(ctx context.Context, centers [][]float64, s start) (*Model, error) {
	k, dim, rows := l.cfg.K, l.f.Dim(), l.store.rows
	n := spread(l.relation, s.clip, l.cfg.NoiseMultiplier, l.cfg.countShare(dim))
	totals := newSums(k, dim, l.opts.be.Workers(), n)
	near, assigned := newNearest(l.opts.be, k, dim, rows), make([]int32, rows)
	update := newUpdater(l.cfg, n, dim, l.rng)
	out := released{make([]float64, k*dim), make([]float64, k)}
	history := make([][]float64, 0, l.cfg.Iterations)
	for t := range l.cfg.Iterations {
		near.set(centers)
		totals.reset()
		err := l.store.visit(ctx, func(p part) error {
			near.assign(p.features, assigned)
			totals.add(l.opts.be, p.features, assigned)
			return nil
		})
		if err != nil {
			return nil, err
		}
		grant, err := l.grants.next()
		if err != nil {
			return nil, err
		}
		// Which cluster a record counts in is a function of the record alone only where the backend says so.
		if device.PromisesOf(l.opts.be) != (device.Promises{RowsAlone: true, SameBits: true}) {
			grant.NoteReal()
		}
		if err := totals.release(grant, n, out); err != nil {
			return nil, err
		}
		if t == 0 && l.cfg.Init.Method == MeanFirst {
			centers = l.cfg.Init.spreadAround(update.mean(out), s)
		} else {
			centers = update.centers(centers, out)
		}
		history = append(history, clone(out.counts))
		l.report(t + 1)
	}
	return newModel(centers, averaged(history, l.cfg.AverageCounts), s.clip), nil
}

func (c Config) countShare(dim int) float64 {
	if c.CountShare == 0 {
		return DefaultCountShare(dim)
	}
	return c.CountShare
}

// mean is the released mean of the first cluster, which holds every record
// while all centres are at the origin; the origin itself if there are too few.
func (u *updater) mean(r released) []float64 {
	u.remember(r)
	defer u.reset()
	if !u.large(0) {
		return make([]float64, u.dim)
	}
	m := scaled(u.sum(0), 1/u.total.counts[0])
	project(m, u.noise.clip)
	return m
}

func (u *updater) reset() {
	for k := range u.weight {
		u.forget(k)
	}
}

func (l *lloyd) report(iteration int) {
	if l.opts.progress != nil {
		l.opts.progress(iteration, l.cfg.Iterations, l.ledger.EpsilonSoFar())
	}
}

// averaged is the mean of the last few noisy counts.
func averaged(history [][]float64, last int) []float64 {
	history = history[len(history)-max(last, 1):]
	mean := make([]float64, len(history[0]))
	for _, h := range history {
		axpy(mean, 1/float64(len(history)), h)
	}
	return mean
}
