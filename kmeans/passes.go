package kmeans

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// A Pass describes one pass over all records, for an iteration or for the clip norm. It has
// everything that the sums of the pass depend on, except the records. All of it is public.
type Pass struct {
	Config   Config              `json:"config"`
	Relation accountant.Relation `json:"relation"`
	Schema   records.Schema      `json:"schema"`
	// Features is the name of the features. Every process must compute them in the same way.
	Features string      `json:"features"`
	Centers  [][]float64 `json:"centers"` // K × features
	// ClipNorm is the norm to which features are clipped.
	ClipNorm float64 `json:"clip_norm"`
	// Norms is true in the pass before the iterations, which exists only if Config has a Norm. This
	// pass counts the norms of features in the bins of a histogram. It has no centres and no clip
	// norm.
	Norms bool `json:"norms,omitempty"`
}

// NewPartial returns the sums of a pass over no records. Processes add the records of their shards
// to it; see mechanism.Partial. f must be the features that the pass names.
//
// Errors: *param.Error for an invalid configuration, and for features or centres that do not fit
// it.
func (p Pass) NewPartial(be device.Backend, f Features) (*mechanism.Partial, error) {
	if err := p.check(f); err != nil {
		return nil, err
	}
	id, err := mechanism.NewPassID("kmeans", p)
	if err != nil {
		return nil, err
	}
	if p.Norms {
		bins, err := p.Config.Norm.histogram(p.Schema.RowsPerPerson() > 0)
		if err != nil {
			return nil, err
		}
		return mechanism.NewPartial(id, p.Schema, &normCounter{be, f, bins, bins.Counts()},
			isReal(be)), nil
	}
	dim := f.Dim()
	n := spread(p.Relation, p.ClipNorm, p.Config.NoiseMultiplier, p.Config.countShare(dim))
	c := &counter{pass: p, be: be, f: f, totals: newSums(p.Config.centers(), dim, be.Workers(), n,
		p.Schema.RowsPerPerson() > 0)}
	return mechanism.NewPartial(id, p.Schema, c, isReal(be)), nil
}

// checkSchema is check for data of a schema of rows or of persons, which need not exist.
func checkSchema(cfg Config, f Features, s records.Schema, r accountant.Relation) error {
	none, err := records.Concat(s)
	if most := s.RowsPerPerson(); err == nil && most > 0 {
		none, err = records.GroupBy(none, []int{}, most)
	}
	if err != nil {
		return err
	}
	return check(cfg, f, none, r)
}

func (p Pass) check(f Features) error {
	p.Config.Init = Init{} // the sums do not depend on Init
	if err := checkSchema(p.Config, f, p.Schema, p.Relation); err != nil {
		return err
	}
	var k param.Checker
	k.OK(p.Relation == accountant.AddOrRemoveOne || p.Relation == accountant.ReplaceOne,
		"kmeans.Pass.Relation", int(p.Relation), "AddOrRemoveOne or ReplaceOne")
	if p.Norms {
		k.OK(p.Config.Norm != nil, "kmeans.Pass.Norms", true, "false without Config.Norm")
		k.OK(len(p.Centers) == 0 && p.ClipNorm == 0, "kmeans.Pass.Centers", len(p.Centers),
			"no centres and no clip norm in a pass with Norms")
		return k.Err()
	}
	k.OK(mechanism.IsClipNorm(p.ClipNorm), "kmeans.Pass.ClipNorm", p.ClipNorm,
		"a norm in [2^-60, 2^100]")
	fits := len(p.Centers) == p.Config.centers()
	for _, c := range p.Centers {
		fits = fits && len(c) == f.Dim() && allFinite(c)
	}
	k.OK(fits, "kmeans.Pass.Centers", len(p.Centers),
		fmt.Sprintf("%d centres of %d finite coordinates", p.Config.centers(), f.Dim()))
	return k.Err()
}

// counter sums the features of records and counts the records of every cluster.
type counter struct {
	pass   Pass
	be     device.Backend
	f      Features
	totals *sums
}

// Add counts every record once, in the cluster of its nearest centre.
func (c *counter) Add(ctx context.Context, data records.Data) error {
	if rows, _ := records.RowsOf(data); rows.Len() == 0 {
		return ctx.Err()
	}
	s := newStore(c.be, c.f, data, 0)
	s.setClip(c.pass.ClipNorm)
	a := newAssigning(c.be, c.pass.Config.centers(), c.f.Dim(), s.rows, c.totals)
	a.near.set(c.pass.Centers)
	return a.add(ctx, s)
}

// Sums returns the sums of features and the counts.
func (c *counter) Sums() []*mechanism.FixedSum {
	t := c.totals.total()
	return []*mechanism.FixedSum{t.features, t.counts}
}

// normCounter counts the norms of features in the bins of a histogram.
type normCounter struct {
	be   device.Backend
	f    Features
	bins *mechanism.NormHistogram // empty between calls of Add
	sum  *mechanism.FixedSum
}

// Add counts every record once, in the bin of its features' norm.
func (c *normCounter) Add(ctx context.Context, data records.Data) error {
	if rows, _ := records.RowsOf(data); rows.Len() == 0 {
		return ctx.Err()
	}
	defer c.bins.Reset()
	if err := countNorms(ctx, c.bins, newStore(c.be, c.f, data, 0)); err != nil {
		return err
	}
	c.sum.Merge(c.bins.Counts())
	return nil
}

// Sums returns the counts.
func (c *normCounter) Sums() []*mechanism.FixedSum {
	return []*mechanism.FixedSum{c.sum}
}

// FitPasses is like Fit, but other processes read the records. In each iteration, and once before
// if the clip norm is estimated, it calls the function read. This function returns the sums over
// all records, merged from shards; see mechanism.Partial. name is the name of the features in every
// pass. With the same noise, FitPasses and Fit release the same bits.
//
// Guarantee: see [Fit]; it holds for the records of all shards. Each record must be in exactly one
// shard.
//
// Errors: the errors of Fit and of read; *param.Error for sums of another pass.
func FitPasses(ctx context.Context, cfg Config, f Features, name string, schema records.Schema,
	ledger *ledger.Ledger, read func(context.Context, Pass) (*mechanism.Partial, error),
	opts ...Option) (*Model, error) {
	if err := checkPasses(cfg, f, schema, ledger, read != nil); err != nil {
		return nil, err
	}
	l, err := begin(ctx, cfg, f, ledger, opts)
	if err != nil {
		return nil, err
	}
	e := elsewhere{l, name, schema, read}
	l.persons, l.pass, l.norms = schema.RowsPerPerson() > 0, e.iteration, e.norms
	return l.run(ctx)
}

func checkPasses(cfg Config, f Features, schema records.Schema, ledger *ledger.Ledger,
	reads bool) error {
	var k param.Checker
	k.OK(ledger != nil, "kmeans.FitPasses.ledger", nil, "a ledger")
	k.OK(reads, "kmeans.FitPasses.read", nil, "a function that returns the sums of a pass")
	r := accountant.AddOrRemoveOne
	if ledger != nil {
		r = ledger.Relation()
		k.OK(schema.RowsPerPerson() == 0 || ledger.Unit() != records.UnitRecord,
			"kmeans.FitPasses.ledger", "one record",
			"a ledger with the option ledger.WithUnit(records.UnitUser), since records are persons")
	}
	k.Add(checkSchema(cfg, f, schema, r))
	return k.Err()
}

// elsewhere calls read for each pass and checks that the sums it returns belong to the pass.
type elsewhere struct {
	l      *lloyd
	name   string
	schema records.Schema
	read   func(context.Context, Pass) (*mechanism.Partial, error)
}

// pass returns a Pass with the fields that are the same in all passes.
func (e elsewhere) pass() Pass {
	cfg := e.l.cfg
	cfg.Init = Init{}
	return Pass{Config: cfg, Relation: e.l.relation, Schema: e.schema, Features: e.name}
}

// iteration implements passing.
func (e elsewhere) iteration(ctx context.Context, centers [][]float64, clip float64) (workerSums,
	bool, error) {
	p := e.pass()
	p.ClipNorm = clip
	for _, c := range centers {
		p.Centers = append(p.Centers, slices.Clone(c))
	}
	list, real, err := e.sums(ctx, p)
	if err != nil {
		return workerSums{}, false, err
	}
	return workerSums{list[0], list[1]}, real, nil
}

// norms implements counting.
func (e elsewhere) norms(ctx context.Context, bins *mechanism.NormHistogram) (bool, error) {
	p := e.pass()
	p.Norms = true
	list, real, err := e.sums(ctx, p)
	if err != nil {
		return false, err
	}
	return real, bins.AddCounts(list[0])
}

// sums returns the sums of a pass. real is true if they were computed on a backend without
// promises.
func (e elsewhere) sums(ctx context.Context, p Pass) (list []*mechanism.FixedSum, real bool,
	err error) {
	empty, err := p.NewPartial(e.l.opts.be, e.l.f)
	if err != nil {
		return nil, false, err
	}
	sums, err := e.read(ctx, p)
	if err != nil {
		return nil, false, err
	}
	if !sums.Like(empty) {
		return nil, false, param.New("kmeans.FitPasses.read", "sums of another pass",
			"sums of the pass that read was called with")
	}
	if unit := sums.Unit(); unit != "" {
		if err := records.CheckUnit("kmeans.FitPasses.read", unit, e.l.ledger.Unit()); err != nil {
			return nil, false, err
		}
	}
	return sums.Sums(), sums.Real(), nil
}
