package gan

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// run is the state of a fit.
type run struct {
	*synth.Run
	config Config

	source  *rand.PCG // public randomness; checkpoints store its state
	rng     *rand.Rand
	critic  models.Critic
	net     models.Network
	grouped *groupedNetwork
	trainer *sgd.Trainer
	public  *publicRecords
	learner *learner
	done    int          // critic steps taken
	opening int          // steps left of the warm start
	opener  *sgd.Descent // of these steps
}

// newRun builds all parts of a run. Its errors depend on public facts only.
func newRun(c Config, on *synth.Run, opts ...sgd.Option) (_ *run, err error) {
	r := &run{Run: on, config: c, source: rand.NewPCG(c.Seed, 0x67616e)}
	r.rng = rand.New(r.source)
	if r.critic, err = c.newCritic(on.Backend); err != nil {
		return nil, err
	}
	generator, err := c.newGenerator(on.Backend)
	if err != nil {
		return nil, err
	}
	if c.Public.Data() != nil {
		r.public = &publicRecords{data: records.Clamped(c.Public.Data()), rng: r.rng,
			size: c.Clipping.Batch, scale: c.Clipping.Scale}
	}
	r.learner = newLearner(on.Backend, r.critic, generator, c)
	r.net = r.network(generator)
	if c.Schema.RowsPerPerson() > 0 {
		opts = append(opts, sgd.WithPersons())
	}
	r.trainer, err = sgd.New(c.train(), r.net, on.Ledger, append(opts, sgd.WithBackend(on.Backend))...)
	if err != nil {
		return nil, fmt.Errorf("gan: %w", err)
	}
	return r, nil
}

// network returns the critic as a network for package sgd, with the methods that its clipping
// needs.
func (r *run) network(generator models.Generator) models.Network {
	n := &criticNetwork{config: r.config, be: r.Backend, critic: r.critic,
		fakes: newMaker(r.Backend, generator, r.config),
		unit:  unit{Unit: network.UnitOf(r.config.Schema)}}
	if !r.config.Clipping.Adaptive {
		return n
	}
	r.grouped = &groupedNetwork{criticNetwork: n, public: r.public}
	return r.grouped
}

// begin restores the checkpoint's state and takes the steps of the warm start, whose result is
// saved.
func (r *run) begin(ctx context.Context) error {
	if r.config.WarmSteps > 0 {
		r.opening = r.config.WarmSteps
		r.opener = r.config.Train.Optimizer.Descent(r.critic.Params().Len())
	}
	if err := r.Restore(r); err != nil {
		return err
	}
	r.Keep(r.state)
	if r.Saved() != nil && r.opening == 0 {
		return nil
	}
	if err := r.warm(ctx); err != nil {
		return err
	}
	if r.config.WarmSteps > 0 {
		if err := r.Save(); err != nil {
			return err
		}
	}
	return r.Preview(0, r.model)
}

// steps takes the critic's private steps, with generator steps in between.
func (r *run) steps(ctx context.Context) error {
	if r.Allowance(PurposeCritic).Remaining() == 0 {
		return nil // the run is already complete
	}
	for step, err := range r.trainer.Steps(ctx, r.Data) {
		if err != nil {
			return fmt.Errorf("gan: %w", err)
		}
		r.done++
		if r.done%r.config.CriticSteps == 0 {
			r.learner.step(r.rng)
		}
		r.Report(PurposeCritic, step.Number, step.Of)
		if err := r.Preview(step.Number, r.model); err != nil {
			return err
		}
	}
	return nil
}

// warm trains both networks on public records, without noise.
func (r *run) warm(ctx context.Context) error {
	n := r.critic.Params().Len()
	sum := device.NewParams(r.Backend, r.critic.Params().Shapes...)
	host := make([]float32, 2*n)
	for r.opening > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		for range r.config.CriticSteps {
			r.publicStep(r.opener, sum, host[:n], host[n:])
		}
		r.learner.step(r.rng)
		r.Report(StageWarm, r.config.WarmSteps-r.opening+1, r.config.WarmSteps)
		r.opening--
		if err := r.Tick(); err != nil {
			return err
		}
	}
	return nil
}

// publicStep takes a critic step on public records.
func (r *run) publicStep(descent *sgd.Descent, sum device.Params, grad, params []float32) {
	r.Backend.Fill(sum.Flat, 0)
	b := r.public.draw()
	weights := make([]float32, b.Rows)
	for i := range weights {
		weights[i] = 1 / float32(b.Rows)
	}
	r.net.Gradients(b).AddWeightedSum(sum, weights)
	r.Backend.Download(grad, sum.Flat)
	r.Backend.Download(params, r.critic.Params().Flat)
	descent.Step(params, grad, 1)
	r.Backend.Upload(r.critic.Params().Flat, params)
}
