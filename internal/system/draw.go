package system

import (
	"context"
	"iter"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// SampleChunk bounds the memory of a draw, however many records it asks for.
const SampleChunk = 1024

// Chunks generates n records in pieces of at most SampleChunk. Every iteration begins anew: it gets from open what
// generates the next piece, or why nothing can be drawn.
//
// Errors: ctx.Err(), those of open and of what it returns.
func Chunks(ctx context.Context, n int, open func() (next func(n int) (records.Data, error), err error)) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		next, err := open()
		if err != nil {
			yield(nil, err)
			return
		}
		for lo := 0; lo < n; lo += SampleChunk {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			chunk, err := next(min(SampleChunk, n-lo))
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// Bernoulli draws every coordinate from its mean.
func Bernoulli(rng *rand.Rand, flat []float32) {
	for i, p := range flat {
		flat[i] = 0
		if rng.Float32() < p {
			flat[i] = 1
		}
	}
}

// MeansOf is the schema of probabilities of binary records, with the same labels.
func MeansOf(s records.Schema) records.Schema {
	out := records.Interval(s.Dim(), 0, 1)
	if s.IsImage() {
		out = records.Image(s.Height(), s.Width())
	}
	return out.WithLabels(s.ClassNames()...)
}
