package dpgm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// ErrSchema is returned when data of another schema than the plan's are fitted.
// The schema is public, so this error says nothing about the records.
var ErrSchema = errors.New("dpgm: the data's schema is not the plan's")

// Progress is how far a run is, in public numbers only.
type Progress struct {
	Stage    string // PurposeCluster, PurposeMarginals or PurposeTrain
	Step, Of int
	Epsilon  float64 // of everything released so far, at the budget's δ; informational
	Elapsed  time.Duration
}

// Option is something about a run that cannot change its guarantee.
type Option func(*options)

type options struct {
	backend  device.Backend
	progress func(Progress)
}

// WithBackend runs the arithmetic on the given backend; default device.CPU.
func WithBackend(b device.Backend) Option { return func(o *options) { o.backend = b } }

// WithProgress has f called after every iteration of clustering, after the marginals and after every step.
func WithProgress(f func(Progress)) Option { return func(o *options) { o.progress = f } }

// newOptions has a default for whatever is nil.
func newOptions(opts []Option) options {
	var o options
	for _, apply := range opts {
		if apply != nil {
			apply(&o)
		}
	}
	if o.backend == nil {
		o.backend = device.CPU()
	}
	if o.progress == nil {
		o.progress = func(Progress) {}
	}
	return o
}

// Fit carries out a plan on private records and returns what may be released.
//
// Guarantee: everything in the returned model, and everything passed to the
// progress function, is a function of releases that the ledger holds; the events
// are the plan's. An interrupted run keeps what it reserved: nothing is refunded.
// Errors: ErrSchema, accountant.ErrBudgetExceeded before anything is drawn,
// ctx.Err(); *param.Error for what is missing and must not be. No error depends on a record's value.
func Fit(ctx context.Context, p *Plan, data records.Data, ledger *accountant.Ledger, opts ...Option) (*Model, error) {
	if p == nil || len(p.Stages) == 0 {
		return nil, &param.Error{Path: "dpgm.Fit.p", Value: nil, Want: "a plan, made by Config.Plan"}
	}
	if data == nil {
		return nil, &param.Error{Path: "dpgm.Fit.data", Value: nil, Want: "records"}
	}
	if !data.Schema().Equal(p.Config.Schema) {
		return nil, ErrSchema
	}
	o := newOptions(opts)
	if err := p.affordable(ledger); err != nil {
		return nil, err
	}
	if err := system.CheckUnit("dpgm.Fit.data", ledger, records.UnitOf(data)); err != nil {
		return nil, err
	}
	r := &run{plan: p, config: p.Config, data: records.Clamped(data), ledger: ledger, options: o, start: time.Now()}
	var err error
	if r.parts, err = newParts(o.backend, r.config); err != nil { // public, and may fail: before anything is spent
		return nil, err
	}
	if err := r.cluster(ctx); err != nil {
		return nil, err
	}
	if err := r.marginals(ctx); err != nil {
		return nil, err
	}
	if err := r.train(ctx); err != nil {
		return nil, err
	}
	r.settle()
	return r.model(), nil
}

// affordable asks for a ledger that can pay the whole plan.
func (p *Plan) affordable(ledger *accountant.Ledger) error {
	c := p.Config
	if err := system.CheckLedger("dpgm.Fit.ledger", ledger, c.Budget.Relation); err != nil {
		return err
	}
	return system.Affordable("dpgm", ledger, c.total(c.Train.NoiseMultiplier))
}

type run struct {
	options
	plan   *Plan
	config Config
	data   records.Data
	ledger *accountant.Ledger
	start  time.Time

	router   *router
	assigned []int32 // cluster of every row: private, never leaves the run
	parts    []models.Density

	told  []marginal // released, of every cluster; nil without Marginals
	tilts []tilt     // and what follows from it for samples
}

func (r *run) report(stage string, step, of int, epsilon float64) {
	r.progress(Progress{Stage: stage, Step: step, Of: of, Epsilon: epsilon, Elapsed: time.Since(r.start)})
}

// cluster finds the clusters privately and routes every record to one of them.
func (r *run) cluster(ctx context.Context) error {
	c := r.config
	if !c.clustered() {
		r.router = &router{}
		return nil
	}
	features, err := newFeatures(c)
	if err != nil {
		return err
	}
	fitted, err := kmeans.Fit(ctx, c.Cluster, features, r.data, r.ledger,
		kmeans.WithBackend(r.backend), kmeans.WithSeed(c.Seed),
		kmeans.WithProgress(func(i, of int, epsilon float64) { r.report(PurposeCluster, i, of, epsilon) }))
	if err != nil {
		return fmt.Errorf("dpgm: clustering: %w", err)
	}
	r.router = &router{features: features, clusters: fitted}
	return r.route(ctx)
}

// route assigns every record once. Assignments depend on the record and on
// released centres only, and stay inside the run.
func (r *run) route(ctx context.Context) error {
	n := r.data.Len()
	r.assigned = make([]int32, n)
	var batch device.Batch
	for lo := 0; lo < n; lo += routeChunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+routeChunk, n)
		r.data.Range(lo, hi, &batch)
		r.router.assign(r.backend, batch, r.assigned[lo:hi])
	}
	return nil
}

const routeChunk = 4096

// train runs private gradient descent on the mixture of all clusters' networks.
func (r *run) train(ctx context.Context) error {
	var net models.Network = r.parts[0]
	if r.config.clustered() {
		net = newMixture(r.backend, r.parts, r.nominal(), func(row int32) int { return int(r.assigned[row]) })
	}
	trainer, err := sgd.New(r.config.Train, net, r.ledger, sgd.WithBackend(r.backend), sgd.WithPurpose(PurposeTrain), sgd.WithAverage(r.config.Average))
	if err != nil {
		return fmt.Errorf("dpgm: training: %w", err)
	}
	for step, err := range trainer.Steps(ctx, r.data) {
		if err != nil {
			return fmt.Errorf("dpgm: training: %w", err)
		}
		r.report(PurposeTrain, step.Number, step.Of, step.Epsilon)
	}
	trainer.UseAverage()
	if m, ok := net.(*mixture); ok {
		m.sync()
	}
	return nil
}

// settle sets the trained networks to what was released beside them.
func (r *run) settle() {
	for i, f := range r.told {
		r.tilts = append(r.tilts, f.settle(r.backend, r.parts[i], r.config.Schema.Dim()))
	}
}

// nominal is the public divisor of each cluster's gradient sum: the batch that its
// released noisy size leads one to expect, and never less than a floor.
func (r *run) nominal() []float64 {
	out := make([]float64, r.config.Cluster.K)
	for i, n := range r.router.clusters.Counts {
		out[i] = r.config.Train.SamplingProbability * max(n, clusterFloor)
	}
	return out
}

// clusterFloor keeps the divisor of a cluster that noise made empty or negative
// away from zero.
const clusterFloor = 1

// newParts builds one network a cluster, each from its own public seed.
func newParts(be device.Backend, c Config) ([]models.Density, error) {
	parts := make([]models.Density, c.Cluster.K)
	for i := range parts {
		g, err := c.Model.New(be, visible(c.Schema), c.Seed+uint64(i)*0x9e3779b97f4a7c15)
		if err != nil {
			return nil, err
		}
		parts[i] = g
	}
	return parts, nil
}
