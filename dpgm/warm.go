package dpgm

import (
	"cmp"
	"context"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// StageWarm is the name, in progress reports, of the stage that trains on an earlier system's
// records. This stage costs no privacy.
const StageWarm = "warm start"

const (
	usualWarm      = 1000 // steps by default
	usualWarmBatch = 128
	mostWarmBatch  = 1 << 20
)

func (c Config) checkWarm(k *param.Checker) {
	k.OK(c.WarmSteps >= 0, "dpgm.Config.WarmSteps", c.WarmSteps, "a non-negative number of steps")
	k.OK(c.WarmBatch >= 0 && c.WarmBatch <= mostWarmBatch, "dpgm.Config.WarmBatch", c.WarmBatch,
		"a number of records up to 2^20, or 0 for 128")
	k.OK(c.Follows == (c.WarmSteps > 0), "dpgm.Config.Follows", c.Follows,
		"true if WarmSteps is positive, and false otherwise")
}

// warm trains each network, without noise, on an earlier system's records of the network's cluster.
// A run that resumes in training skips this stage. A run that resumes earlier takes the same steps
// again.
func (r *run) warm(ctx context.Context) error {
	public := r.Public()
	if r.config.WarmSteps == 0 || r.resumed || public == nil {
		return nil
	}
	public = records.Clamped(public)
	assigned := make([]int32, public.Len())
	if r.config.clustered() {
		err := network.EachBatch(ctx, public, routeChunk, func(lo int, b device.Batch) {
			r.router.assign(r.Backend, b, assigned[lo:lo+b.Rows])
		})
		if err != nil {
			return err
		}
	}
	ones := make([]float64, len(r.nets))
	m := newMixture(r.Backend, r.nets, ones, func(row int32) int { return int(assigned[row]) })
	if err := r.warmSteps(ctx, m, public); err != nil {
		return err
	}
	m.sync()
	return nil
}

func (r *run) warmSteps(ctx context.Context, m *mixture, public records.Data) error {
	n, rows := m.Params().Len(), cmp.Or(r.config.WarmBatch, usualWarmBatch)
	rng := rand.New(rand.NewPCG(r.config.Seed, 0x7761726d))
	descent := r.config.Train.Optimizer.Descent(n)
	sum := device.NewParams(r.Backend, m.Params().Shapes...)
	grad, params := make([]float32, n), make([]float32, n)
	index, keys, weights := make([]int32, rows), make([]uint64, rows), make([]float32, rows)
	var b device.Batch
	for step := range r.config.WarmSteps {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range index {
			index[i], keys[i] = int32(rng.IntN(public.Len())), rng.Uint64()
			weights[i] = 1 / float32(rows)
		}
		public.Gather(index, &b)
		b.Index, b.Keys = index, keys
		m.BeginStep()
		r.Backend.Fill(sum.Flat, 0)
		m.Gradients(b).AddWeightedSum(sum, weights)
		r.Backend.Download(grad, sum.Flat)
		r.Backend.Download(params, m.Params().Flat)
		descent.Step(params, grad, 1)
		r.Backend.Upload(m.Params().Flat, params)
		r.Report(StageWarm, step+1, r.config.WarmSteps)
	}
	return nil
}
