package dpgm

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// run is the state of a fit. Its networks and row assignments are never released, because the
// networks' buffers hold private rows.
type run struct {
	*synth.Run
	config Config
	nets   []models.Density

	router   *router
	history  kmeans.History // released
	assigned []int32        // cluster of every row: private; nil until route is called
	told     []marginal     // released marginals of every cluster; nil without Marginals

	trained models.Network // all networks as one; nil before training
	trainer *sgd.Trainer
	steps   int  // complete steps of training
	resumed bool // the saved state includes training
}

// build creates the networks.
func (r *run) build() (err error) {
	r.nets, err = newNets(r.Backend, r.config)
	return err
}

// newNets builds one network per cluster. Each network has a different public seed.
func newNets(be device.Backend, c Config) ([]models.Density, error) {
	nets := make([]models.Density, c.Cluster.K)
	for i := range nets {
		g, err := c.Model.New(be, visible(c.Schema), c.Seed+uint64(i)*0x9e3779b97f4a7c15)
		if err != nil {
			return nil, err
		}
		nets[i] = g
	}
	return nets, nil
}

// cluster runs the clustering stage, if there is one.
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
	var saved error
	opts := []kmeans.Option{kmeans.WithBackend(r.Backend), kmeans.WithSeed(c.Seed),
		kmeans.WithAllowances(r.Allowance(kmeans.PurposeNorm), r.Allowance(PurposeCluster)),
		kmeans.WithProgress(func(i, of int, _ float64) {
			if i > 0 {
				r.Report(PurposeCluster, i, of)
				return
			}
			// Save immediately, because the stage has only one use, and the next release comes only after a
			// pass over all records.
			saved = r.Save()
			r.Report(kmeans.PurposeNorm, 1, 1)
		})}
	if r.Keeps() {
		opts = append(opts, kmeans.WithHistory(&r.history))
	}
	fitted, err := kmeans.Fit(ctx, c.Cluster, features, r.Data, r.Ledger, opts...)
	if saved != nil {
		return saved
	}
	if err != nil {
		return fmt.Errorf("dpgm: clustering: %w", err)
	}
	r.router = &router{features: features, clusters: fitted}
	return nil
}

// route assigns every record (for persons, every row) to a cluster, unless this has been done
// already. An assignment depends only on the record and on released centres. Assignments are never
// released.
func (r *run) route(ctx context.Context) error {
	if !r.config.clustered() || r.assigned != nil {
		return nil
	}
	rows, _ := records.RowsOf(r.Data)
	assigned := make([]int32, rows.Len())
	err := network.EachBatch(ctx, rows, routeChunk, func(lo int, b device.Batch) {
		r.router.assign(r.Backend, b, assigned[lo:lo+b.Rows])
	})
	if err == nil {
		r.assigned = assigned
	}
	return err
}

const routeChunk = 4096

// newTrainer returns a trainer of all networks together. The function nominal returns the public
// divisor of a cluster's gradient sums.
func (r *run) newTrainer(nominal func(cluster int) float64) (*sgd.Trainer, error) {
	r.trained = r.nets[0]
	if r.config.clustered() {
		divisors := make([]float64, len(r.nets))
		for i := range divisors {
			divisors[i] = nominal(i)
		}
		r.trained = newMixture(r.Backend, r.nets, divisors,
			func(row int32) int { return int(r.assigned[row]) })
	}
	opts := []sgd.Option{sgd.WithBackend(r.Backend), sgd.WithAverage(r.config.Average)}
	if r.config.Schema.RowsPerPerson() > 0 {
		opts = append(opts, sgd.WithPersons())
	}
	if a := r.Allowance(PurposeTrain); a != nil {
		opts = append(opts, sgd.WithAllowance(a))
	}
	t, err := sgd.New(r.config.Train, r.trained, r.Ledger, opts...)
	if err != nil {
		return nil, fmt.Errorf("dpgm: training: %w", err)
	}
	return t, nil
}

// train runs private gradient descent on the mixture of all clusters' networks.
func (r *run) train(ctx context.Context) error {
	trainer, err := r.newTrainer(r.nominal)
	if err != nil {
		return err
	}
	if err := r.restoreTraining(trainer); err != nil {
		return err
	}
	r.trainer = trainer
	if r.Allowance(PurposeTrain).Remaining() > 0 {
		if err := r.route(ctx); err != nil {
			return err
		}
		if err := r.takeSteps(ctx); err != nil {
			return err
		}
	}
	if r.steps == 0 && r.told == nil { // nothing about the records has reached the networks
		return fmt.Errorf("dpgm: training: %w", synth.ErrLost)
	}
	r.trainer.UseAverage()
	return nil
}

func (r *run) takeSteps(ctx context.Context) error {
	if r.steps == 0 {
		if err := r.Preview(0, r.model); err != nil {
			return err
		}
	}
	for step, err := range r.trainer.Steps(ctx, r.Data) {
		if err != nil {
			return fmt.Errorf("dpgm: training: %w", err)
		}
		r.steps++
		r.Report(PurposeTrain, step.Number, step.Of)
		if err := r.Preview(step.Number, r.model); err != nil {
			return err
		}
	}
	return nil
}

// nominal returns the public divisor of a cluster's gradient sums. It is the expected batch size,
// computed from the cluster's released noisy size, or from clusterFloor if that is larger.
func (r *run) nominal(cluster int) float64 {
	return r.config.Train.SamplingProbability * max(r.router.clusters.Counts[cluster], clusterFloor)
}

// clusterFloor is the smallest cluster size in a divisor. A noisy size may be zero or negative.
const clusterFloor = 1

// model returns the released model. It has new networks with copies of the parameters and of the
// public state.
func (r *run) model() (synth.Model, error) {
	c, be := r.config, r.ReleaseBackend()
	m := &Model{schema: c.Schema, arch: c.Model, backend: be,
		router: &router{clusters: r.router.clusters}}
	var err error
	if c.clustered() {
		if m.router.features, err = newFeatures(c); err != nil {
			return nil, err
		}
	}
	if m.nets, err = newNets(be, c); err != nil {
		return nil, err
	}
	for i, net := range m.nets {
		be.Apply(device.Identity, net.Params().Flat, r.released(i).Flat)
		if s, ok := net.(models.Stateful); ok {
			if err := s.SetState(r.nets[i].(models.Stateful).AppendState(nil)); err != nil {
				return nil, err
			}
		}
		if r.told != nil {
			t, aim := r.told[i].settle(be, net, c.Schema.Dim())
			m.tilts, m.targets = append(m.tilts, t), append(m.targets, aim)
		}
	}
	return m, nil
}

// released returns the parameters of one cluster's network.
func (r *run) released(i int) device.Params {
	if m, ok := r.trained.(*mixture); ok {
		return m.params.Sub(m.spans[i].lo, m.spans[i].hi)
	}
	return r.trained.Params()
}
