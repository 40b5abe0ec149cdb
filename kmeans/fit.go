package kmeans

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// stream selects the stream of the random generator. The fit's public randomness is therefore
// independent of other numbers drawn with the same seed.
const stream = 0x6b6d65616e73

var errData = fmt.Errorf("kmeans: %w", records.ErrData)

// The purposes of a fit's ledger entries.
const (
	PurposeNorm       = "k-means clip norm" // only with a DPNorm
	PurposeIterations = "k-means"           // counts and sums
)

// Lines returns the ledger lines that a fit reserves in one transaction: a line for the clip norm,
// if it is estimated, and a line for the iterations.
func (c Config) Lines() []ledger.Line {
	iterations := ledger.Line{Purpose: PurposeIterations, Event: c.iteration(), Count: c.Iterations}
	if c.Norm == nil {
		return []ledger.Line{iterations}
	}
	return []ledger.Line{{Purpose: PurposeNorm, Event: c.Norm.event(), Count: 1}, iterations}
}

// Fit clusters private records in feature space. If data are persons, it clusters their rows and
// counts each row with its weight.
//
// Guarantee: [Config.Event] under the ledger's relation, with one record (or person) as the unit
// and noise of the exact class. The whole event is reserved before any record is read. Nothing that
// Fit returns depends on the records except through this event.
//
// Cost: O(n·dim) memory up to 128 MiB, and O(n·K·dim) time for each iteration.
//
// Errors: *param.Error for mistakes in the configuration, joined; errors of the ledger
// (accountant.ErrBudgetExceeded) and of the context; and records.ErrData if reading data of a
// user-defined type fails. After a cancellation or ErrData the ledger still charges the whole
// reservation.
func Fit(ctx context.Context, cfg Config, f Features, data records.Data,
	ledger *ledger.Ledger, opts ...Option) (*Model, error) {
	data = records.Clamped(data)
	if ledger == nil {
		missing := param.New("kmeans.Fit.ledger", nil, "a ledger")
		return nil, errors.Join(missing, check(cfg, f, data, accountant.AddOrRemoveOne))
	}
	if err := check(cfg, f, data, ledger.Relation()); err != nil {
		return nil, err
	}
	if err := records.CheckUnitOf("kmeans.Fit.data", data, ledger.Unit()); err != nil {
		return nil, err
	}
	l, err := begin(ctx, cfg, f, ledger, opts)
	if err != nil {
		return nil, err
	}
	l.store = newStore(l.opts.be, f, data, l.opts.cache)
	l.persons = l.store.share != nil
	l.norms = func(ctx context.Context, bins *mechanism.NormHistogram) (bool, error) {
		return isReal(l.opts.be), countNorms(ctx, bins, l.store)
	}
	return l.run(ctx)
}

// begin reserves the noise of a fit whose settings have been checked.
func begin(ctx context.Context, cfg Config, f Features, ledger *ledger.Ledger,
	opts []Option) (*lloyd, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := newOptions(opts)
	if err := o.reserve(ctx, cfg, f.Dim(), ledger); err != nil {
		return nil, err
	}
	return &lloyd{cfg: cfg, opts: o, f: f, relation: ledger.Relation(), ledger: ledger,
		rng: rand.New(rand.NewPCG(o.seed, stream))}, nil
}

// Check returns the errors that Fit would return for the configuration, the features and the
// records. It uses public facts only.
//
// Errors: *param.Error, joined.
func (c Config) Check(f Features, data records.Data) error {
	return check(c, f, records.Clamped(data), accountant.AddOrRemoveOne)
}

// check returns mistakes in the configuration, and contradictions between configuration, features
// and schema under a relation. It uses public facts only.
func check(cfg Config, f Features, data records.Data, r accountant.Relation) error {
	var k param.Checker
	invalid := cfg.Validate()
	k.Add(invalid)
	k.OK(f != nil, "kmeans.Fit.f", "nil", "features")
	k.OK(data != nil, "kmeans.Fit.data", "nil", "records")
	if f == nil || data == nil {
		return k.Err()
	}
	if records.Failed(data) {
		k.Add(errData)
		return k.Err()
	}
	k.OK(f.Dim() >= 1, "kmeans.Features.Dim", f.Dim(), "a positive integer")
	width, ok := f.(interface{ In() int })
	k.OK(!ok || width.In() == data.Schema().Dim(), "kmeans.Fit.data",
		fmt.Sprintf("%d coordinates", data.Schema().Dim()), "records for which the features were made")
	fits := cfg.centers() <= maxCoordinates/max(f.Dim(), 1)
	k.OK(fits, "kmeans.Config.K", cfg.centers(),
		fmt.Sprintf("at most %d coordinates of all centres together", maxCoordinates))
	if f.Dim() >= 1 && fits && invalid == nil {
		n := spread(r, 1, cfg.NoiseMultiplier, cfg.countShare(f.Dim()))
		k.Add(mechanism.CheckCountNoise("kmeans.Config.CountShare", n.count,
			data.Schema().RowsPerPerson() > 0))
	}
	k.OK(cfg.Norm != nil || cfg.ClipNorm != 0 || mechanism.IsClipNorm(f.NormBound()),
		"kmeans.Config.ClipNorm", 0.0,
		"a clip norm, or a DPNorm in Norm: these features have no norm bound")
	k.OK(cfg.Init.Method != FromPublic || !cfg.Init.Records.Overlaps(data), "kmeans.Init.Records",
		"the private records", "public records")
	cfg.Init.check(&k, f.Dim(), data.Schema())
	return k.Err()
}

// reserve reserves all uses of noise in the fit, unless allowances were given. It first checks the
// history, so that a history of another fit costs nothing.
func (o *options) reserve(ctx context.Context, cfg Config, dim int, l *ledger.Ledger) error {
	if o.norm != nil || o.iterations != nil {
		return o.checkAllowances(cfg, dim, l)
	}
	if err := o.history.check(cfg, dim, cfg.Iterations); err != nil {
		return err
	}
	all, err := mechanism.ReserveAll(ctx, l, ledger.Transaction{Lines: cfg.Lines()})
	if err != nil {
		return err
	}
	if cfg.Norm != nil {
		o.norm = all[0]
	}
	o.iterations = all[len(all)-1]
	return nil
}

// checkAllowances compares the given allowances with the reservation that the fit would make, and
// with the history.
func (o *options) checkAllowances(cfg Config, dim int, ledger *ledger.Ledger) error {
	var k param.Checker
	k.OK(cfg.Norm != nil || o.norm == nil, "kmeans.WithAllowances.norm", "an allowance",
		"nil without a DPNorm")
	for _, line := range cfg.Lines() {
		a := o.iterations
		if line.Purpose == PurposeNorm {
			a = o.norm
		}
		fits := a != nil && accountant.EqualEvents(a.Event(), line.Event) &&
			a.Remaining() <= line.Count
		k.OK(fits, "kmeans.WithAllowances", line.Purpose, fmt.Sprintf(
			"an allowance of at most %d uses of %s", line.Count, accountant.Describe(line.Event)))
		k.OK(a == nil || a.On(ledger), "kmeans.WithAllowances", "of another ledger",
			"allowances on the fit's ledger")
	}
	if o.iterations != nil {
		k.Add(o.history.check(cfg, dim, o.iterations.Remaining()))
	}
	return k.Err()
}

// lloyd holds the state of a fit.
type lloyd struct {
	cfg      Config
	opts     options
	f        Features
	relation accountant.Relation
	ledger   *ledger.Ledger
	persons  bool     // records are persons
	store    *store   // nil if other processes read the records
	pass     passing  // not nil if other processes read the records
	norms    counting // counts the norms of all records
	rng      *rand.Rand
}

// A passing function makes one pass over all records. It returns the sums for the given centres.
// The boolean is true if they were computed on a backend without the promises that isReal checks.
type passing func(ctx context.Context, centers [][]float64, clip float64) (workerSums, bool, error)

func (l *lloyd) run(ctx context.Context) (*Model, error) {
	clip, err := l.clipNorm(ctx)
	if err != nil {
		return nil, err
	}
	if l.store != nil {
		l.store.setClip(clip)
	}
	s := start{l.opts.be, l.f, l.cfg.centers(), clip, l.rng}
	centers, err := l.cfg.Init.centers(ctx, s)
	if err != nil {
		return nil, err
	}
	return l.iterate(ctx, centers, s)
}

func (l *lloyd) clipNorm(ctx context.Context) (float64, error) {
	switch {
	case l.cfg.Norm != nil:
		return l.privateNorm(ctx)
	case l.cfg.ClipNorm != 0:
		return l.cfg.ClipNorm, nil
	}
	return l.f.NormBound(), nil
}

// privateNorm releases the clip norm, or returns the one already released. If an interruption lost
// the release, privateNorm does not draw it again but returns the largest norm, which is public.
func (l *lloyd) privateNorm(ctx context.Context) (float64, error) {
	if h := l.opts.history; h != nil && h.ClipNorm != 0 {
		return h.ClipNorm, nil
	}
	clip := l.cfg.Norm.Max
	if l.opts.norm.Remaining() > 0 {
		var err error
		if clip, err = l.cfg.Norm.estimate(ctx, l.opts.norm, l.persons, l.norms); err != nil {
			return 0, err
		}
	}
	if h := l.opts.history; h != nil {
		h.ClipNorm = clip
	}
	l.report(0)
	return clip, nil
}

func (l *lloyd) iterate(ctx context.Context, centers [][]float64, s start) (*Model, error) {
	k, dim := l.cfg.centers(), l.f.Dim()
	n := spread(l.relation, s.clip, l.cfg.NoiseMultiplier, l.cfg.countShare(dim))
	pass := l.pass
	if pass == nil {
		pass = l.reading(n)
	}
	path := &path{l: l, s: s, update: newUpdater(l.cfg, n, dim, l.rng), centers: centers}
	path.replay(l.opts.history)
	out := released{make([]float64, k*dim), make([]float64, k)}
	for l.opts.iterations.Remaining() > 0 {
		sums, real, err := pass(ctx, path.centers, s.clip)
		if err != nil {
			return nil, err
		}
		grant, err := l.opts.iterations.Next()
		if err != nil {
			return nil, err
		}
		// Without the backend's promises, a record's cluster could depend on other records.
		if real {
			grant.NoteReal()
		}
		if err := sums.release(grant, n, out); err != nil {
			return nil, err
		}
		l.opts.history.add(out)
		path.move(out)
		l.report(l.cfg.Iterations - l.opts.iterations.Remaining())
	}
	return path.model()
}

// reading returns a function that makes passes over the records in l.store.
func (l *lloyd) reading(n noise) passing {
	totals := newSums(l.cfg.centers(), l.f.Dim(), l.opts.be.Workers(), n, l.store.share != nil)
	a := newAssigning(l.opts.be, l.cfg.centers(), l.f.Dim(), l.store.rows, totals)
	return func(ctx context.Context, centers [][]float64, _ float64) (workerSums, bool, error) {
		totals.reset()
		a.near.set(centers)
		err := a.add(ctx, l.store)
		return totals.total(), isReal(l.opts.be), err
	}
}

// path updates the centres after each release. It uses nothing private.
type path struct {
	l       *lloyd
	s       start
	update  *updater
	centers [][]float64
	counts  [][]float64 // counts of every release
}

// move updates the centres after one release. With [MeanFirst], the first release gives the mean of
// all records, and the centres are placed around it.
func (p *path) move(r released) {
	if len(p.counts) == 0 && p.l.cfg.Init.Method == MeanFirst {
		p.centers = spreadAround(p.update.mean(r), p.s)
	} else {
		p.centers = p.update.centers(p.centers, r)
	}
	p.counts = append(p.counts, slices.Clone(r.counts))
	if c := p.l.cfg; c.Merge > 0 && len(p.counts) == c.Merge {
		p.centers = p.update.merge(p.centers, r.counts, c.K)
	}
}

// replay updates the centres with the releases of an interrupted fit. With the same seed it reaches
// the same centres.
func (p *path) replay(h *History) {
	if h == nil {
		return
	}
	for _, it := range h.Iterations {
		p.move(released{it.Sums, it.Counts})
	}
}

// model returns the resulting model. If every release was lost, the model has the first centres and
// equal weights.
func (p *path) model() (*Model, error) {
	c := p.l.cfg
	counts := make([]float64, c.centers())
	if len(p.counts) > 0 {
		counts = p.counts[len(p.counts)-1]
	}
	if c.Merge > 0 && len(p.counts) >= c.Merge {
		return p.merged()
	}
	m := newModel(p.centers, counts, p.s.clip)
	if c.centers() > c.K {
		m.Groups = merge(p.centers, counts, c.K)
		m.Counts = grouped(counts, m.Groups, c.K)
	}
	return m, m.Validate()
}

// merged returns the model of the K centres that are left after [Config].Merge. If every later
// release was lost, the clusters have equal weights.
func (p *path) merged() (*Model, error) {
	c, counts := p.l.cfg, make([]float64, p.l.cfg.centers())
	if later := p.counts[c.Merge:]; len(later) > 0 {
		counts = later[len(later)-1]
	}
	m := newModel(p.centers[:c.K], counts[:c.K], p.s.clip)
	return m, m.Validate()
}

func (c Config) countShare(dim int) float64 { return cmp.Or(c.CountShare, defaultCountShare(dim)) }

// mean returns the released mean of the first cluster. This cluster contains every record while all
// centres are at the origin. If the noisy count is below the floor, mean returns the origin.
func (u *updater) mean(r released) []float64 {
	u.remember(r)
	defer u.reset()
	if !u.large(0) {
		return make([]float64, u.dim)
	}
	m := floats.ScaleTo(make([]float64, u.dim), 1/u.total.counts[0], u.sum(0))
	project(m, u.noise.clip)
	return m
}

// reset clears the totals of all clusters.
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
