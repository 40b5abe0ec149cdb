package mix

import (
	"context"
	"errors"
	"iter"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// errStopped ends the run of a stream whose receiver has stopped.
var errStopped = errors.New("mix: the receiver has stopped")

// Stream is FitOn without keeping the rows: it yields them in chunks, in memory that does not grow
// with the number of mixtures. The receiver owns the chunks. A receiver that stops early has spent
// the whole plan; with a checkpoint, which holds no rows, the same call yields the remaining
// mixtures.
//
// Guarantee and Errors: those of synth.Plan.FitOn.
func (p *Plan) Stream(ctx context.Context, ledger *accountant.Ledger, data records.Data,
	opts ...synth.Option) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		if p == nil || p.work == nil || data == nil {
			yield(nil, param.New("mix.Stream", nil,
				"a plan made by Config.Plan or read from a file, and records"))
			return
		}
		_, err := p.Carry(ctx, ledger, data, func(r *synth.Run) (synth.Model, error) {
			x, err := p.work.mixer(ctx, r)
			if err != nil {
				return nil, err
			}
			return nil, x.rounds(ctx, func(chunk *Rows, _ []int32) error {
				if !yield(chunk, nil) {
					return errStopped
				}
				return nil
			})
		}, opts...)
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}
