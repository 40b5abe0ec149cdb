package sequence

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/bundle"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Judge calls the checks of both systems.
func (w *work) Judge(r *synth.Run) error {
	for _, part := range w.config.parts() {
		if err := r.JudgeInner(part); err != nil {
			return err
		}
	}
	return nil
}

// Fit carries out the first system, draws records from its generator, and carries out the second.
//
// Guarantee: the second system's public records come from the first one's model and a public seed.
func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	states, err := bundle.Restore(r.Saved(), 2)
	if err != nil {
		return nil, err
	}
	var models [2]synth.Model
	parts := w.config.parts()
	for i, part := range parts {
		if i > 0 {
			if part.Public, err = w.public(ctx, r, models[0]); err != nil {
				return nil, err
			}
		}
		part.Saved = states[i]
		part.Keep = func(f *synth.File) (*synth.File, error) {
			states[i] = f
			return states.File(systemName)
		}
		if models[i], err = r.FitInner(ctx, part); err != nil {
			return nil, err
		}
		if err := r.Save(); err != nil { // the last state of a finished system
			return nil, err
		}
		r.Keep(func() (*synth.File, error) { return states.File(systemName) })
	}
	return &Model{Wrapped: synth.Wrapped{Model: models[1]}, first: models[0],
		systems: [2]string{w.config.First.System(), w.config.Then.System()}}, nil
}

// public draws the records that the second system starts from.
//
// Errors: *param.Error for a model of a user-defined system that returns the private records, or
// records of another schema than it states.
func (w *work) public(ctx context.Context, r *synth.Run, m synth.Model) (records.Data, error) {
	c := w.config
	gen := synth.NewGenerator(c.First.System(), m, r.Guarantee())
	var chunks []records.Data
	for chunk, err := range gen.Stream(ctx, c.Records, synth.Seed(c.Seed), synth.Unconstrained()) {
		if err != nil {
			return nil, fmt.Errorf("sequence: records of %s: %w", c.First.System(), err)
		}
		if r.Data != nil && records.Overlap(chunk, r.Data) { // before it is copied
			return nil, param.New("sequence.Config.First", "a generator of the private records",
				"a generator of synthetic records")
		}
		chunks = append(chunks, chunk)
	}
	drawn, err := records.Concat(c.Then.Schema(), chunks...)
	if err == nil && drawn.Len() != c.Records {
		err = fmt.Errorf("the generator returned %d, want %d", drawn.Len(), c.Records)
	}
	if err != nil {
		return nil, fmt.Errorf("sequence: records of %s: %w", c.First.System(), err)
	}
	return drawn, nil
}
