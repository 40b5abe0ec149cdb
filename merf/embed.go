package merf

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Embed releases the noisy embedding of private records, without training a generator.
//
// Guarantee: the returned embedding is computed from releases recorded on the ledger, which are the
// plan's events. Their noise is of the exact class. An interrupted run gets no refund. Errors: see
// synth.Plan.FitOn.
func (p *Plan) Embed(ctx context.Context, ledger *ledger.Ledger, data records.Data,
	opts ...synth.Option) (*Embedding, error) {
	if data == nil {
		return nil, param.New("merf.Embed.data", nil, "records")
	}
	return p.release(ctx, ledger, data, addAll(ctx), opts)
}

// EmbedStream is Embed for records that arrive in pieces. Its memory does not grow with the number
// of records. It reads each piece completely before it requests the next one, and does not keep the
// piece. A run that resumes from a checkpoint reads the whole stream again unless everything has
// been released.
//
// Units: a record must be in only one piece. If the ledger protects users, all records of a user
// must be in the same piece. Pieces do not name users, so a user in two pieces cannot be detected.
// Under a ledger that protects users a second piece is therefore an error. It is accepted only if
// records.WithPart states that the two pieces hold different parts of all users. Pieces that state
// a smaller unit than the ledger's are an error. Errors: all errors of Embed; *param.Error for a
// plan with Batches, which needs random access; the errors of the stream, which end the run. The
// author of the stream decides what its errors reveal about the records. Guarantee: as for Embed,
// for the records of all pieces together.
func (p *Plan) EmbedStream(ctx context.Context, ledger *ledger.Ledger,
	stream iter.Seq2[records.Data, error], opts ...synth.Option) (*Embedding, error) {
	if err := p.streams("merf.EmbedStream.stream", stream); err != nil {
		return nil, err
	}
	return p.release(ctx, ledger, nil, p.work.pieces(ctx, stream), opts)
}

// FitStream is FitOn for records that arrive in pieces. Its memory does not grow with the number of
// records. Units and Errors: see EmbedStream.
//
// Guarantee: as for FitOn, for the records of all pieces together.
func (p *Plan) FitStream(ctx context.Context, ledger *ledger.Ledger,
	stream iter.Seq2[records.Data, error], opts ...synth.Option) (*synth.Generator, error) {
	if err := p.streams("merf.FitStream.stream", stream); err != nil {
		return nil, err
	}
	return synth.Carry(ctx, p.Program, ledger, nil, func(r *synth.Run) (synth.Model, error) {
		return p.work.fit(ctx, r, p.work.pieces(ctx, stream))
	}, opts...)
}

// streams returns an error for plans and options that do not support streams.
func (p *Plan) streams(path string, stream iter.Seq2[records.Data, error]) error {
	if stream == nil {
		return param.New(path, nil, "records")
	}
	return p.wholeSums("zero: a stream is read only once")
}

// A filler returns the sums of the records that a run reads.
type filler func(*synth.Run) (*mechanism.Partial, error)

// addAll adds up the run's records.
func addAll(ctx context.Context) filler {
	return func(r *synth.Run) (*mechanism.Partial, error) {
		return r.Read(ctx, synth.Pass{Purpose: PurposeEmbed})
	}
}

// pieces adds up the records of a stream.
func (w *work) pieces(ctx context.Context, stream iter.Seq2[records.Data, error]) filler {
	return func(r *synth.Run) (*mechanism.Partial, error) {
		s := w.newPartial(r.Backend)
		for data, err := range stream {
			if err != nil {
				return nil, err
			}
			data = records.Clamped(data)
			if data != nil {
				err := records.CheckUnitOf("merf.stream", data, r.Ledger.Unit())
				if err != nil {
					return nil, err
				}
			}
			if err := s.Add(ctx, data); err != nil {
				return nil, fmt.Errorf("merf: %w", err)
			}
			if s.Unit() == "" {
				continue
			}
			if err := records.CheckUnit("merf.stream (the pieces so far)", s.Unit(), r.Ledger.Unit()); err !=
				nil {
				return nil, err
			}
		}
		return s, nil
	}
}

// Release adds noise to the sums of shards and releases them as one embedding. It empties the
// shards: a record is in one release only, even if its shard is passed twice. If the run fails, the
// first shard holds the sums of all shards.
//
// Guarantee: as for Embed, for the records of all shards together. Each record must be in exactly
// one shard, once. If the ledger protects users, all records of a user must be in the same shard.
// If there are several shards, or several pieces in a shard, each must state its part of all users
// by records.WithPart. Errors: all errors of Embed; *param.Error for shards of different plans, for
// a shard whose Add has failed, and for a plan with Batches.
func (p *Plan) Release(ctx context.Context, ledger *ledger.Ledger, shards []*mechanism.Partial,
	opts ...synth.Option) (*Embedding, error) {
	taken := new(taken)
	if err := p.checkShards(ledger, shards); err != nil {
		return nil, err
	}
	e, err := p.release(ctx, ledger, nil, taken.from(p.work, shards), opts)
	return e, errors.Join(err, taken.back(err, shards))
}

// EmbedPasses is Embed for records that other processes read. The function read returns the sums of
// all records, merged from shards as mechanism.Partial describes.
//
// Guarantee: see Release. Errors: all errors of Release and of read.
func (p *Plan) EmbedPasses(ctx context.Context, ledger *ledger.Ledger,
	read func(context.Context, synth.Pass) (*mechanism.Partial, error),
	opts ...synth.Option) (*Embedding, error) {
	if err := p.wholeSums("none: a sample is drawn by position"); err != nil {
		return nil, err
	}
	if read == nil {
		return nil, param.New("merf.EmbedPasses.read", nil, "a function that returns sums of all records")
	}
	return p.release(ctx, ledger, nil, func(r *synth.Run) (*mechanism.Partial, error) {
		s, err := read(ctx, synth.Pass{Purpose: PurposeEmbed})
		if err != nil {
			return nil, err
		}
		return s, mechanism.CheckPartials("merf.EmbedPasses.read", p.work.pass, r.Ledger.Unit(), s)
	}, opts)
}

// taken holds the sums of shards while a run uses them.
type taken struct{ all *mechanism.Partial }

func (t *taken) from(w *work, shards []*mechanism.Partial) filler {
	return func(r *synth.Run) (*mechanism.Partial, error) {
		t.all = w.newPartial(r.Backend)
		for _, s := range shards {
			if err := t.all.Merge(s); err != nil {
				return nil, err
			}
		}
		return t.all, nil
	}
}

// back merges the sums into the first shard if the run has failed.
func (t *taken) back(failed error, shards []*mechanism.Partial) error {
	if failed == nil || t.all == nil || len(shards) == 0 {
		return nil
	}
	return shards[0].Merge(t.all)
}

func (p *Plan) checkShards(ledger *ledger.Ledger, shards []*mechanism.Partial) error {
	if err := p.wholeSums("zero: samples are drawn from all records"); err != nil {
		return err
	}
	promised := records.UnitRecord
	if ledger != nil {
		promised = ledger.Unit()
	}
	return mechanism.CheckPartials("merf.Release.shards", p.work.pass, promised, shards...)
}

// Refit trains the plan's generator against an earlier release. It reads no records and costs
// no privacy.
//
// Errors: see Train.
func (p *Plan) Refit(ctx context.Context, e *Embedding,
	opts ...synth.Option) (*synth.Generator, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	return Train(ctx, e, p.work.config.Generator, opts...)
}

// made returns an error for nil and zero plans.
func (p *Plan) made() error {
	if p == nil || p.work == nil {
		return param.New("merf.Plan", nil, "a plan made by Config.Plan or read from a file")
	}
	return nil
}

// wholeSums returns an error for plans with Batches, which release samples.
func (p *Plan) wholeSums(want string) error {
	if err := p.made(); err != nil {
		return err
	}
	if b := p.work.config.Batches; !b.none() {
		return param.New("merf.Config.Batches", b, want)
	}
	return nil
}

// release runs the plan's one stage without training.
func (p *Plan) release(ctx context.Context, ledger *ledger.Ledger, data records.Data,
	fill filler, opts []synth.Option) (*Embedding, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	var e *Embedding
	embed := func(r *synth.Run) (m synth.Model, err error) {
		e, err = p.work.embed(ctx, r, fill)
		return nil, err
	}
	_, err := synth.Carry(ctx, p.Program, ledger, data, embed, opts...)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// embed releases one embedding of the sums that fill returns. With Batches it releases the
// embeddings of samples of the run's records.
func (w *work) embed(ctx context.Context, r *synth.Run, fill filler) (*Embedding, error) {
	e, err := w.newEmbedding()
	if err != nil {
		return nil, err
	}
	if w.config.Batches.none() {
		err = w.once(r, e, fill)
	} else {
		err = w.sampled(ctx, r, e)
	}
	if err != nil {
		return nil, err
	}
	e.guarantee = r.Guarantee()
	return e, nil
}

// once releases the sums of all records.
func (w *work) once(r *synth.Run, e *Embedding, fill filler) error {
	sizes := []int{len(e.sums)}
	if w.noise.count > 0 {
		sizes = append(sizes, len(e.counts))
	}
	out, err := r.Once(PurposeEmbed, sizes, func() (float64, []mechanism.Part, error) {
		sums, err := fill(r)
		if err != nil {
			return 0, nil, err
		}
		if sums.Real() {
			r.NoteReal(PurposeEmbed)
		}
		return w.noise.effect, w.parts(sums.Sums()), nil
	})
	if err != nil {
		return err
	}
	r.Report(PurposeEmbed, 1, 1)
	copy(e.sums, out[0])
	if len(out) > 1 {
		copy(e.counts, out[1])
	}
	e.noise.widen(r.Wider(PurposeEmbed))
	return nil
}

// parts returns the sums, and the counts if they are released.
func (w *work) parts(sums []*mechanism.FixedSum) []mechanism.Part {
	list := []mechanism.Part{{Sum: sums[0], Std: w.noise.sum}}
	if w.noise.count > 0 {
		list = append(list, mechanism.Part{Sum: sums[1], Std: w.noise.count})
	}
	return list
}
