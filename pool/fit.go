package pool

import (
	"context"

	"github.com/seed7ba64551/privgen/internal/bundle"
	"github.com/seed7ba64551/privgen/synth"
)

// Fit carries out one system after the other. No system sees a result of another one.
func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	parts := w.config.parts()
	states, err := bundle.Restore(r.Saved(), len(parts))
	if err != nil {
		return nil, err
	}
	m := &Model{shares: w.config.Shares}
	for i, part := range parts {
		part.Saved = states[i]
		part.Keep = func(f *synth.File) (*synth.File, error) {
			states[i] = f
			return states.File(systemName)
		}
		of, err := r.FitInner(ctx, part)
		if err != nil {
			return nil, err
		}
		m.systems, m.models = append(m.systems, part.Plan.System()), append(m.models, of)
		if err := r.Save(); err != nil { // the last state of a finished system
			return nil, err
		}
		r.Keep(func() (*synth.File, error) { return states.File(systemName) })
	}
	return m, nil
}
