package merf

import (
	"context"
	"iter"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Embed releases the noisy embedding of private records, without training a generator.
//
// Guarantee: everything in the returned embedding is a function of releases that the ledger holds, noise of the exact
// class; the events are the plan's. An interrupted run keeps what it reserved: nothing is refunded.
// Errors: those of synth.Plan.FitOn.
func (p *Plan) Embed(ctx context.Context, ledger *accountant.Ledger, data records.Data,
	opts ...synth.Option) (*Embedding, error) {
	if data == nil {
		return nil, param.New("merf.Embed.data", nil, "records")
	}
	return p.release(ctx, ledger, data, func(r *synth.Run, s *Partial) error { return s.Add(ctx, r.Data) }, opts)
}

// EmbedStream is Embed of records that arrive in pieces, in memory that does not grow with their number. A piece is
// read to its end before the next one is asked for, and not kept.
//
// Errors: those of Embed, and the stream's own, which ends the run: whoever makes the stream decides what its errors
// say about the records. A plan with Batches needs random access and is refused.
func (p *Plan) EmbedStream(ctx context.Context, ledger *accountant.Ledger,
	stream iter.Seq2[records.Data, error], opts ...synth.Option) (*Embedding, error) {
	if stream == nil {
		return nil, param.New("merf.EmbedStream.stream", nil, "records")
	}
	if err := p.wholeSums("none for a stream, which is read once"); err != nil {
		return nil, err
	}
	return p.release(ctx, ledger, nil, func(r *synth.Run, s *Partial) error {
		for data, err := range stream {
			if err != nil {
				return err
			}
			if data != nil {
				if err := records.CheckUnit("merf.EmbedStream.stream", records.UnitOf(data), r.Ledger.Unit()); err != nil {
					return err
				}
			}
			if err := s.Add(ctx, data); err != nil {
				return err
			}
		}
		return nil
	}, opts)
}

// Release adds noise to the sums of shards and releases them as one embedding. The shards are emptied: a record is in one
// release, however often its shard is named.
//
// Guarantee: that of Embed for the records of all shards together, each of which must be in one shard once.
// Errors: those of Embed; *param.Error for shards of unequal plans, or a plan with Batches.
func (p *Plan) Release(ctx context.Context, ledger *accountant.Ledger, shards []*Partial,
	opts ...synth.Option) (*Embedding, error) {
	if err := p.wholeSums("none: a sample is drawn from all shards"); err != nil {
		return nil, err
	}
	var k param.Checker
	for _, s := range shards {
		k.OK(s != nil && p.work.sameSums(s.work), "merf.Release.shards", "a partial sum", "sums of the plan")
	}
	if err := k.Err(); err != nil {
		return nil, err
	}
	if ledger != nil {
		for _, s := range shards {
			if s.who != "" {
				k.Add(records.CheckUnit("merf.Release.shards", s.who, ledger.Unit()))
			}
		}
	}
	if err := k.Err(); err != nil {
		return nil, err
	}
	return p.release(ctx, ledger, nil, func(_ *synth.Run, all *Partial) error {
		for _, s := range shards {
			all.take(s)
		}
		return nil
	}, opts)
}

// FitStream is FitOn for records that arrive in pieces, in memory that does not grow with their number.
//
// Errors: those of EmbedStream.
func (p *Plan) FitStream(ctx context.Context, ledger *accountant.Ledger,
	stream iter.Seq2[records.Data, error], opts ...synth.Option) (*synth.Generator, error) {
	e, err := p.EmbedStream(ctx, ledger, stream, opts...)
	if err != nil {
		return nil, err
	}
	return p.Refit(ctx, e, opts...)
}

// Refit trains the plan's generator against an embedding that was released before. It reads no record and costs
// nothing.
func (p *Plan) Refit(ctx context.Context, e *Embedding, opts ...synth.Option) (*synth.Generator, error) {
	return Train(ctx, e, p.Config.Generator, opts...)
}

// wholeSums refuses plans that release samples, and such as Config.Plan has not made.
func (p *Plan) wholeSums(want string) error {
	if p.work == nil {
		return param.New("merf.Plan", nil, "a plan made by Config.Plan or read from a file")
	}
	if b := p.Config.Batches; !b.none() {
		return param.New("merf.Config.Batches", b, want)
	}
	return nil
}

// release carries out the plan's one stage and no training.
func (p *Plan) release(ctx context.Context, ledger *accountant.Ledger, data records.Data,
	fill func(*synth.Run, *Partial) error, opts []synth.Option) (e *Embedding, err error) {
	_, err = p.Carry(ctx, ledger, data, func(r *synth.Run) (synth.Model, error) {
		e, err = p.work.embed(ctx, r, func(s *Partial) error { return fill(r, s) })
		return nil, err
	}, opts...)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// embed releases the embedding of what fill adds up, or those of samples of the run's records.
func (w *work) embed(ctx context.Context, r *synth.Run, fill func(*Partial) error) (*Embedding, error) {
	e := w.newEmbedding()
	if !w.config.Batches.none() {
		if err := w.sampled(ctx, r, e); err != nil {
			return nil, err
		}
	} else {
		sizes := []int{len(e.sums)}
		if w.noise.count > 0 {
			sizes = append(sizes, len(e.counts))
		}
		out, err := r.Once(PurposeEmbed, sizes, func() (float64, []mechanism.Part, error) {
			sums := w.newPartial(r.Backend)
			if err := fill(sums); err != nil {
				return 0, nil, err
			}
			if sums.loose {
				r.NoteReal(PurposeEmbed)
			}
			return w.noise.effect, w.parts(sums.total()), nil
		})
		if err != nil {
			return nil, err
		}
		copy(e.sums, out[0])
		if len(out) > 1 {
			copy(e.counts, out[1])
		}
		r.Report(PurposeEmbed, 1, 1)
	}
	e.guarantee = r.Ledger.Guarantee()
	return e, nil
}

// parts are the sums, and the counts where they are released.
func (w *work) parts(total *worker) []mechanism.Part {
	list := []mechanism.Part{{Sum: total.sums, Std: w.noise.sum}}
	if w.noise.count > 0 {
		list = append(list, mechanism.Part{Sum: total.counts, Std: w.noise.count})
	}
	return list
}
