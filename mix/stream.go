package mix

import (
	"context"
	"errors"
	"iter"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// errStopped ends the run of a stream whose consumer has stopped.
var errStopped = errors.New("mix: the consumer has stopped")

// Stream is like FitOn, but yields the rows in chunks instead of storing them. Its memory does not
// grow with the number of mixtures. The consumer owns the chunks. If the consumer stops early, the
// ledger still charges the whole plan. With a checkpoint, calling Stream again in the same way
// yields the remaining mixtures. The checkpoint holds no rows.
//
// Guarantee: see synth.Plan.FitOn.
//
// Errors: see synth.Plan.FitOn.
func (p *Plan) Stream(ctx context.Context, ledger *ledger.Ledger, data records.Data,
	opts ...synth.Option) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		if p == nil || p.work == nil {
			yield(nil, param.New("mix.Plan", nil, "a plan returned by Config.Plan or read from a file"))
			return
		}
		if data == nil {
			yield(nil, param.New("mix.Plan.Stream.data", nil, "records"))
			return
		}
		_, err := synth.Carry(ctx, p.Program, ledger, data, func(r *synth.Run) (synth.Model, error) {
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
