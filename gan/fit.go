package gan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// Fit carries out a plan on private records and returns what may be released.
//
// Guarantee: everything in the returned model, in previews and in checkpoints, and everything passed to the progress
// function, is a function of releases that the ledger holds; the events are the plan's, all reserved before the
// first. An interrupted run keeps what it reserved: nothing is refunded.
// Errors: ErrSchema, accountant.ErrBudgetExceeded before anything is drawn, ctx.Err(), those of the file system for
// checkpoints; *param.Error for what is nil and must not be, or a ledger that promises what the run cannot
// keep. No error depends on a record's value.
func Fit(ctx context.Context, p *Plan, data records.Data, ledger *accountant.Ledger, opts ...Option) (*Model, error) {
	if err := p.judge("gan.Fit.ledger", data, ledger); err != nil {
		return nil, err
	}
	r, err := newRun(p, data, ledger, opts)
	if err != nil {
		return nil, err
	}
	if err := r.keeper.vacant(); err != nil {
		return nil, err
	}
	if err := r.trainer.Reserve(ctx); err != nil {
		return nil, fmt.Errorf("gan: %w", err)
	}
	r.reserved = true
	if err := r.warm(ctx); err != nil {
		return nil, err
	}
	return r.train(ctx)
}

// judge refuses what is wrong with a run in public, before it begins. The path is the ledger's.
func (p *Plan) judge(path string, data records.Data, ledger *accountant.Ledger) error {
	if err := p.made(); err != nil {
		return err
	}
	if err := system.CheckLedger(path, ledger, p.Config.Budget.Relation); err != nil {
		return err
	}
	if data == nil {
		return &param.Error{Path: "gan.Fit.data", Value: nil, Want: "records"}
	}
	if !data.Schema().Equal(p.Config.Schema) {
		return ErrSchema
	}
	return system.CheckUnit("gan.Fit.data", ledger, records.UnitOf(data))
}

// run is one fit at work.
type run struct {
	options
	plan   *Plan
	config Config
	data   records.Data
	ledger *accountant.Ledger
	start  time.Time

	source  *rand.PCG // public randomness, of which a checkpoint holds the state
	rng     *rand.Rand
	critic  models.Critic
	net     models.Network
	loss    *fakeLoss // nil under Wasserstein
	grouped *groupedNetwork
	trainer *sgd.Trainer
	public  *publicRecords
	pace    pace
	learner *learner
	keeper  *keeper

	reserved bool
}

// newRun builds everything that may fail for public reasons.
func newRun(p *Plan, data records.Data, ledger *accountant.Ledger, opts []Option, resumed ...sgd.Option) (*run, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	c := p.Config
	r := &run{options: o, plan: p, config: c, data: data, ledger: ledger, start: time.Now(),
		source: rand.NewPCG(c.Seed, 0x67616e), pace: pace{rule: c.Frequency, Critic: c.CriticSteps}}
	r.rng = rand.New(r.source)
	if r.critic, err = c.newCritic(o.backend); err != nil {
		return nil, err
	}
	generator, err := c.newGenerator(o.backend)
	if err != nil {
		return nil, err
	}
	if c.Public != nil {
		r.public = newPublicRecords(c, r.rng)
	}
	r.learner = newLearner(o.backend, r.critic, generator, c)
	r.net = r.network(generator)
	if r.keeper, err = newKeeper(r); err != nil {
		return nil, err
	}
	r.trainer, err = sgd.New(c.train(), r.net, ledger, append([]sgd.Option{sgd.WithBackend(o.backend), sgd.WithPurpose(PurposeCritic)}, resumed...)...)
	if err != nil {
		return nil, fmt.Errorf("gan: %w", err)
	}
	return r, nil
}

// network is the critic with what its loss and its clip need.
func (r *run) network(generator models.Generator) models.Network {
	n := &network{config: r.config, be: r.backend, critic: r.critic, fakes: newMaker(r.backend, generator, r.config), unit: unit{Unit: system.UnitOf(r.config.Schema)}}
	var grouped *groupedNetwork
	if r.config.Clipping.on() {
		grouped = &groupedNetwork{network: n}
		r.grouped = grouped
		if r.config.Clipping.Adaptive {
			grouped.public = r.public
		}
	}
	if r.config.Loss == models.Wasserstein {
		if grouped != nil {
			return grouped
		}
		return n
	}
	r.loss = &fakeLoss{network: n, rng: r.rng, bound: firstBound(r.config.Train), accuracy: r.pace.note}
	if own, ok := r.config.Train.Clip.(sgd.Groups); ok && grouped == nil {
		r.loss.groups = func() []sgd.Group { return own.List }
	}
	if grouped == nil {
		return r.loss
	}
	r.loss.groups = func() []sgd.Group { return grouped.last }
	return struct {
		*groupedNetwork
		models.PublicGradient
	}{grouped, r.loss}
}

// firstBound is the clip norm before any has been released.
func firstBound(t sgd.Config) float64 {
	switch c := t.Clip.(type) {
	case sgd.DPNorm:
		return c.MaxNorm
	case sgd.Quantile:
		return c.Initial
	}
	return t.ClipNorm
}

// train runs the critic's private steps and a generator's after every few.
func (r *run) train(ctx context.Context) (*Model, error) {
	if err := r.keeper.claim(); err != nil {
		return nil, err
	}
	if r.keeper.spent() < r.config.Train.Steps {
		if r.preview != nil && r.keeper.spent() == 0 {
			r.show(0)
		}
		err := r.steps(ctx)
		if kept := r.keeper.settle(err); kept != nil && err == nil {
			err = kept
		}
		if err != nil {
			return nil, err
		}
	}
	return r.model()
}

func (r *run) steps(ctx context.Context) error {
	for step, err := range r.trainer.Steps(ctx, r.data) {
		if err != nil {
			return fmt.Errorf("gan: %w", err)
		}
		if r.loss != nil {
			r.loss.bound = step.ClipNorm
		}
		if r.pace.due() {
			r.learner.step(r.rng)
		}
		r.progress(Progress{Stage: PurposeCritic, Step: step.Number, Of: step.Of, Epsilon: step.Epsilon, Elapsed: time.Since(r.start)})
		if err := r.keeper.after(step.Number); err != nil {
			return err
		}
		if r.preview != nil && step.Number%r.previewAt == 0 {
			r.show(step.Number)
		}
	}
	return nil
}

func (r *run) show(step int) {
	if m, err := r.model(); err == nil {
		r.preview(step, m)
	}
}

// warm trains both networks on public records, without noise.
func (r *run) warm(ctx context.Context) error {
	if r.config.WarmSteps == 0 {
		return nil
	}
	n := r.critic.Params().Len()
	descent := r.config.Train.Optimizer.Descent(n)
	sum, host := device.NewParams(r.backend, r.critic.Params().Shapes...), make([]float32, 2*n)
	epsilon := r.ledger.EpsilonSoFar() // of what others have released
	for step := range r.config.WarmSteps {
		for range r.config.CriticSteps {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.publicStep(descent, sum, host[:n], host[n:])
		}
		r.learner.step(r.rng)
		r.progress(Progress{Stage: StageWarm, Step: step + 1, Of: r.config.WarmSteps, Epsilon: epsilon, Elapsed: time.Since(r.start)})
	}
	return nil
}

// publicStep is a critic step on public records.
func (r *run) publicStep(descent *sgd.Descent, sum device.Params, grad, params []float32) {
	r.backend.Fill(sum.Flat, 0)
	b := r.public.draw()
	weights := make([]float32, b.Rows)
	for i := range weights {
		weights[i] = 1 / float32(b.Rows)
	}
	r.net.Gradients(b).AddWeightedSum(sum, weights)
	if r.loss != nil {
		r.loss.addPlain(sum)
	}
	r.backend.Download(grad, sum.Flat)
	r.backend.Download(params, r.critic.Params().Flat)
	descent.Step(params, grad, 1)
	r.backend.Upload(r.critic.Params().Flat, params)
}

// addPlain adds the mean gradient of fakes as it is, since records are not clipped either.
func (f *fakeLoss) addPlain(dst device.Params) {
	was := *f
	f.groups, f.bound, f.plain, f.accuracy = nil, largestNorm, true, func(float64) {}
	f.AddPublicGradient(dst)
	f.groups, f.bound, f.plain, f.accuracy = was.groups, was.bound, was.plain, was.accuracy
}
