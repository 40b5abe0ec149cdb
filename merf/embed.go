package merf

import (
	"context"
	"iter"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// Embed releases the noisy embedding of private records.
//
// Guarantee: everything in the returned embedding is a function of releases that the ledger holds, noise of the exact
// class; the events are the plan's. An interrupted run keeps what it reserved: nothing is refunded.
// Errors: ErrSchema, accountant.ErrBudgetExceeded before any record is read, ctx.Err(); *param.Error for what
// is nil and must not be. No error depends on a record's value.
func Embed(ctx context.Context, p *Plan, data records.Data, ledger *accountant.Ledger, opts ...Option) (*Embedding, error) {
	if data == nil {
		return nil, &param.Error{Path: "merf.Embed.data", Value: nil, Want: "records"}
	}
	if err := p.check(ledger); err != nil {
		return nil, err
	}
	if !data.Schema().Equal(p.Config.Schema) {
		return nil, ErrSchema
	}
	if err := system.CheckUnit("merf.Embed.data", ledger, records.UnitOf(data)); err != nil {
		return nil, err
	}
	data = records.Clamped(data)
	return p.embed(ctx, ledger, collect(opts), func(r *releasing) error { return r.all(ctx, data) })
}

// EmbedStream is Embed of records that arrive in pieces, in memory that does not grow with their number. A piece is
// read to its end before the next one is asked for, and not kept.
//
// Errors: those of Embed, and the stream's own, which ends the run: whoever makes the stream decides what its errors
// say about the records. A plan with Batches needs random access and is refused.
func EmbedStream(ctx context.Context, p *Plan, stream iter.Seq2[records.Data, error],
	ledger *accountant.Ledger, opts ...Option) (*Embedding, error) {
	if stream == nil {
		return nil, &param.Error{Path: "merf.EmbedStream.stream", Value: nil, Want: "records"}
	}
	if err := p.check(ledger); err != nil {
		return nil, err
	}
	if !p.Config.Batches.none() {
		return nil, p.noBatches("none for a stream, which is read once")
	}
	return p.embed(ctx, ledger, collect(opts), func(r *releasing) error {
		for data, err := range stream {
			if err != nil {
				return err
			}
			if data != nil {
				if err := system.CheckUnit("merf.Embed.data", ledger, records.UnitOf(data)); err != nil {
					return err
				}
			}
			if err := r.sums.Add(ctx, data); err != nil {
				return err
			}
		}
		return r.release()
	})
}

// Release adds noise to the sums of shards and releases them as one embedding. The shards are emptied: a record is in one
// release, however often its shard is named.
//
// Guarantee: that of Embed for the records of all shards together, each of which must be in one shard once.
// Errors: those of Embed; *param.Error for shards of unequal plans, or a plan with Batches.
func Release(ctx context.Context, p *Plan, ledger *accountant.Ledger, shards []*Partial, opts ...Option) (*Embedding, error) {
	if err := p.check(ledger); err != nil {
		return nil, err
	}
	if !p.Config.Batches.none() {
		return nil, p.noBatches("none: a sample is drawn from all shards")
	}
	var k param.Checker
	for _, s := range shards {
		k.OK(s != nil && p.sameSums(s.plan), "merf.Release.shards", "a partial sum", "sums of the plan")
	}
	if err := k.Err(); err != nil {
		return nil, err
	}
	for _, s := range shards {
		if err := system.CheckUnit("merf.Embed.data", ledger, s.who); s.who != "" && err != nil {
			return nil, err
		}
	}
	return p.embed(ctx, ledger, collect(opts), func(r *releasing) error {
		for _, s := range shards {
			r.sums.take(s)
		}
		return r.release()
	})
}

func (p *Plan) noBatches(want string) error {
	return &param.Error{Path: "merf.Config.Batches", Value: p.Config.Batches, Want: want}
}

// check judges what is public about a run before it begins.
func (p *Plan) check(ledger *accountant.Ledger) error {
	if err := p.made(); err != nil {
		return err
	}
	return system.CheckLedger("merf.Embed.ledger", ledger, p.Config.Budget.Relation)
}

// releasing is one run under way.
type releasing struct {
	options
	plan      *Plan
	ledger    *accountant.Ledger
	allowance *mechanism.Allowance
	sums      *Partial
	out       *Embedding
	start     time.Time
	done      int
}

// embed reserves the whole plan, then lets fill read records and release.
func (p *Plan) embed(ctx context.Context, ledger *accountant.Ledger, o options, fill func(*releasing) error) (*Embedding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	allowance, err := mechanism.Begin(ctx, ledger).Reserve(PurposeEmbed, p.Event, p.Count)
	if err != nil {
		return nil, err
	}
	r := &releasing{options: o, plan: p, ledger: ledger, allowance: allowance, out: p.newEmbedding(), start: time.Now()}
	r.sums = p.NewPartial(WithBackend(o.backend))
	if err := fill(r); err != nil {
		return nil, err
	}
	r.out.guarantee = ledger.Guarantee()
	return r.out, nil
}

// all releases the embedding of all records, or those of samples.
func (r *releasing) all(ctx context.Context, data records.Data) error {
	if r.plan.Config.Batches.none() {
		if err := r.sums.Add(ctx, data); err != nil {
			return err
		}
		return r.release()
	}
	var rows []int32
	var keys []uint64
	for range r.plan.Count {
		grant, err := r.allowance.Next()
		if err != nil {
			return err
		}
		rows, keys = grant.PoissonSample(data.Len(), rows[:0], keys[:0])
		r.sums.reset()
		if err := r.sums.addRows(ctx, data, rows); err != nil {
			return err
		}
		if err := r.releaseUnder(grant); err != nil {
			return err
		}
	}
	return nil
}

func (r *releasing) release() error {
	grant, err := r.allowance.Next()
	if err != nil {
		return err
	}
	return r.releaseUnder(grant)
}

// releaseUnder draws the noise and adds what is released to the embedding: with samples, the mean of all steps' sums
// divided by the public probability, so that it stands for all records whatever the plan.
func (r *releasing) releaseUnder(grant *mechanism.Grant) error {
	n, total, e := r.plan.noise, r.sums.total(), r.out
	noisy := []mechanism.Part{{Sum: total.sums, Std: n.sum, Out: make([]float64, len(e.sums))}}
	if n.count > 0 {
		noisy = append(noisy, mechanism.Part{Sum: total.counts, Std: n.count, Out: make([]float64, len(e.counts))})
	}
	if r.sums.loose {
		grant.NoteReal()
	}
	if err := grant.Release(n.effect, noisy...); err != nil {
		return err
	}
	share := 1.0
	if b := r.plan.Config.Batches; !b.none() {
		share = 1 / (b.Probability * float64(b.Steps))
	}
	addScaled(e.sums, share, noisy[0].Out)
	if n.count > 0 {
		addScaled(e.counts, share, noisy[1].Out)
	}
	r.done++
	r.progress(Progress{Stage: PurposeEmbed, Step: r.done, Of: r.plan.Count,
		Epsilon: r.ledger.EpsilonSoFar(), Elapsed: time.Since(r.start)})
	return nil
}

func addScaled(dst []float64, scale float64, src []float64) {
	for i, v := range src {
		dst[i] += scale * v
	}
}
