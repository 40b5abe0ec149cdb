package merf

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// samples holds the sum of the released embeddings of samples.
type samples struct {
	made, steps int // number of releases, and of those in the plan
	sums        *Embedding
	complete    bool // training had begun when the state was saved
}

// sampled releases the embedding of one Poisson sample after another. Their mean, divided by the
// public probability, estimates the embedding of all records. Releases lost to an interruption are
// left out of the mean.
func (w *work) sampled(ctx context.Context, r *synth.Run, e *Embedding) error {
	steps := w.config.Batches.Steps
	s := &samples{steps: steps, sums: e}
	if err := r.Restore(s); err != nil || s.complete {
		return err
	}
	r.Keep(s.file)
	allowance := r.Allowance(PurposeEmbed)
	sums := w.newCounter(r.Backend)
	real := w.newPartial(r.Backend).Real()
	var rows []int32
	var keys []uint64
	for allowance.Remaining() > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		grant, err := allowance.Next()
		if err != nil {
			return err
		}
		rows, keys = grant.PoissonSample(r.Data.Len(), rows[:0], keys[:0])
		sums.reset()
		if err := sums.addSample(ctx, r.Data, rows); err != nil {
			return err
		}
		parts := w.parts(sums.Sums())
		for i := range parts {
			parts[i].Out = make([]float64, parts[i].Sum.Dim())
		}
		if real {
			grant.NoteReal()
		}
		if err := grant.Release(w.noise.effect, parts...); err != nil {
			return err
		}
		s.add(parts, 1/(w.config.Batches.Probability*float64(steps)))
		r.Report(PurposeEmbed, steps-allowance.Remaining(), steps)
	}
	return s.finish(w)
}

func (s *samples) add(parts []mechanism.Part, share float64) {
	floats.AddScaled(s.sums.sums, share, parts[0].Out)
	if len(parts) > 1 {
		floats.AddScaled(s.sums.counts, share, parts[1].Out)
	}
	s.made++
}

// finish corrects for lost releases. The checkpoint keeps the releases unchanged.
func (s *samples) finish(w *work) error {
	if s.made == 0 {
		return fmt.Errorf("merf: %s: %w", PurposeEmbed, synth.ErrLost)
	}
	if s.made == s.steps {
		return nil
	}
	e, f := s.sums, float64(s.steps)/float64(s.made)
	s.sums = &Embedding{sums: slices.Clone(e.sums), counts: slices.Clone(e.counts)}
	floats.AddScaled(e.sums, f-1, s.sums.sums)
	if w.noise.count > 0 { // otherwise the count is public
		floats.AddScaled(e.counts, f-1, s.sums.counts)
	}
	e.noise.widen(math.Sqrt(f))
	return nil
}

type samplesHeader struct {
	Made int `json:"made"`
}

func (s *samples) file() (*synth.File, error) {
	return synth.NewFile(samplesHeader{s.made}, s.sums.parts()...)
}

// RestoreFrom reads the releases made so far. They are complete if training had begun.
//
// Errors: synth.ErrFormat for a state that no run with this number of steps can have.
func (s *samples) RestoreFrom(f *synth.File) error {
	var h stateHeader
	if err := f.Decode(&h); err != nil {
		return err
	}
	if h.Made < 0 || h.Made > s.steps || h.Done != nil && !(h.SumStd > 0 && h.CountStd >= 0) {
		return synth.Malformed(fmt.Errorf(
			"%d of %d releases with noise ±%v on sums and ±%v on counts; want positive noise on sums",
			h.Made, s.steps, h.SumStd, h.CountStd))
	}
	if s.made = h.Made; h.Done != nil {
		s.sums.noise.sum, s.sums.noise.count = h.SumStd, h.CountStd
	}
	s.complete = h.Done != nil
	return f.Load(s.sums.parts()...)
}
