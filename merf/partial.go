package merf

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// NewPartial returns an empty sum of features, for example of the records of one shard. Partials
// are merged before noise is added, so all shards together get the noise of one release. The sum
// computes on the backend given by synth.On. Adding to the sum is an error if the plan is nil or
// the zero plan, or if opts has a checkpoint. Other options have no effect.
func (p *Plan) NewPartial(opts ...synth.Option) *mechanism.Partial {
	if p.made() != nil {
		return new(mechanism.Partial)
	}
	r, err := synth.FreeRun(ledger.Guarantee{}, opts...)
	if err != nil { // opts has a checkpoint, but sums without noise are never written
		return new(mechanism.Partial)
	}
	return p.work.newPartial(r.Backend)
}

func (w *work) newPartial(be device.Backend) *mechanism.Partial {
	real := device.PromisesOf(be) != device.Promises{RowsAlone: true, SameBits: true}
	return mechanism.NewPartial(w.pass, w.config.Schema, w.newCounter(be), real)
}

// namePass sets the pass. It identifies everything on which the sums depend. If JSON cannot
// represent the kernel, the sums can only be merged with sums of this plan.
func (w *work) namePass() {
	c := *w
	c.config.Generator = GeneratorConfig{}
	config, err := c.Config()
	if err == nil {
		w.pass, err = mechanism.NewPassID(systemName, PurposeEmbed, w.config.Schema, w.config.Budget,
			json.RawMessage(config))
	}
	if err != nil {
		w.pass = mechanism.LocalPassID()
	}
}

// counter sums features on every core of a backend.
type counter struct {
	workers []*worker
}

func (w *work) newCounter(be device.Backend) *counter {
	c := new(counter)
	for range max(be.Workers(), 1) {
		c.workers = append(c.workers, newWorker(w, be))
	}
	return c
}

// Add adds every record of data.
func (c *counter) Add(ctx context.Context, data records.Data) error {
	rows, shares := records.RowsOf(data)
	return c.each(ctx, rows.Len(), func(w *worker, lo, hi int) {
		w.addRange(rows, lo, hi, shares)
	})
}

// addSample adds the given records or, for persons, all rows of the given persons.
func (c *counter) addSample(ctx context.Context, data records.Data, sample []int32) error {
	rows, shares := records.RowsOf(data)
	if p, ok := records.AsPersons(data); ok {
		sample = p.AppendRows(nil, sample)
	}
	return c.each(ctx, len(sample), func(w *worker, lo, hi int) {
		w.addGathered(rows, sample[lo:hi], shares)
	})
}

// each divides n rows into pieces, which the workers process concurrently.
func (c *counter) each(ctx context.Context, n int, do func(w *worker, lo, hi int)) error {
	step := c.workers[0].size()
	var group sync.WaitGroup
	errs := make([]error, len(c.workers))
	for i, w := range c.workers {
		run := func() {
			for lo := i * step; lo < n; lo += len(c.workers) * step {
				if errs[i] = ctx.Err(); errs[i] != nil {
					return
				}
				do(w, lo, min(lo+step, n))
			}
		}
		if i*step < n {
			group.Go(run)
		}
	}
	group.Wait()
	return cmp.Or(errors.Join(errs...), ctx.Err()) // also without rows
}

// Sums returns the sums of features, and the counts if they are released.
func (c *counter) Sums() []*mechanism.FixedSum {
	total := c.workers[0]
	for _, w := range c.workers[1:] {
		total.merge(w)
		w.reset()
	}
	if total.counts == nil {
		return []*mechanism.FixedSum{total.sums}
	}
	return []*mechanism.FixedSum{total.sums, total.counts}
}

func (c *counter) reset() {
	for _, w := range c.workers {
		w.reset()
	}
}
