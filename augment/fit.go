package augment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/evaluate/classify"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Fit carries out the other system, and then chooses.
func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	var s state
	if err := s.restore(r.Saved(), len(w.config.Candidates)); err != nil {
		return nil, err
	}
	part := w.config.inner()
	part.Saved = s.inner
	part.Keep = func(f *synth.File) (*synth.File, error) {
		s.inner = f
		return s.file()
	}
	of, err := r.FitInner(ctx, part)
	if err != nil {
		return nil, err
	}
	if err := r.Save(); err != nil { // the last state of the other system
		return nil, err
	}
	r.Keep(s.file)
	m := &Model{Wrapped: synth.Wrapped{Model: of}, system: w.config.Of.System(),
		candidates: w.config.Candidates, seed: w.config.Seed}
	if err := w.choose(ctx, r, m, &s); err != nil {
		return nil, err
	}
	m.chosen = s.chosen
	return m, r.Save()
}

// choose chooses a candidate, unless the run has spent the choice already. The number of recognised
// records is computed before the choice is spent, so an error loses nothing.
func (w *work) choose(ctx context.Context, r *synth.Run, m *Model, s *state) error {
	a := r.Allowance(PurposeChoice)
	if a.Remaining() == 0 {
		return nil // s has the choice; if it was lost, s has the first candidate
	}
	utilities, err := w.recognised(ctx, r, m)
	if err != nil {
		return err
	}
	grant, err := a.Next()
	if err != nil {
		return err
	}
	if s.chosen, err = grant.Exponential(utilities); err != nil {
		return err
	}
	r.Report(PurposeChoice, 1, 1)
	return nil
}

// recognised returns the utilities of the candidates: the numbers of private records whose class
// their classifiers predict. The result is private.
func (w *work) recognised(ctx context.Context, r *synth.Run, m *Model) ([]int64, error) {
	drawn, err := w.drawn(ctx, r, m)
	if err != nil {
		return nil, err
	}
	by, err := w.classifiers(ctx, drawn)
	if err != nil {
		return nil, err
	}
	counts, err := recognisedBy(ctx, by, r.Data)
	if err == nil && records.Failed(r.Data) {
		err = synth.ErrData
	}
	return counts, err
}

// classifiers returns a classifier for every candidate. It is nil for a candidate from whose
// records no classifier can learn: such a candidate recognises nothing. This depends on released
// and public values only.
//
// Errors: ctx.Err(), also if the context ends while the last classifier learns.
func (w *work) classifiers(ctx context.Context, drawn records.Data) ([]*classify.Classifier,
	error) {
	by := make([]*classify.Classifier, len(w.config.Candidates))
	for i, candidate := range w.config.Candidates {
		c, err := learn(ctx, drawn, candidate, w.config.Seed)
		if ended := ctx.Err(); ended != nil { // err says nothing about the candidate
			return nil, ended
		}
		if err == nil {
			by[i] = c
		}
	}
	return by, nil
}

// drawn returns unchanged records of the other model for the classifiers. Images with levels have
// their mean levels.
//
// Errors: *param.Error for a model of a user-defined system that returns the private records, or
// records of another schema than it states.
func (w *work) drawn(ctx context.Context, r *synth.Run, m *Model) (records.Data, error) {
	opts := []synth.DrawOption{synth.Seed(w.config.Seed), synth.Unconstrained()}
	if levels(m.Schema()) {
		opts = append(opts, synth.Means())
	}
	gen := synth.NewGenerator(m.system, m.Model, accountant.Guarantee{})
	var chunks []records.Data
	for chunk, err := range gen.Stream(ctx, w.config.Records, opts...) {
		if err != nil {
			return nil, fmt.Errorf("augment: records of %s: %w", m.system, err)
		}
		if records.DeclarePublic(chunk).Overlaps(r.Data) { // before it is copied
			return nil, param.New("augment.Config.Of", "a generator of the private records",
				"a generator of synthetic records")
		}
		chunks = append(chunks, chunk)
	}
	out, err := records.Concat(m.Schema(), chunks...)
	if err == nil && out.Len() != w.config.Records {
		err = fmt.Errorf("the generator returned %d, want %d", out.Len(), w.config.Records)
	}
	if err != nil {
		return nil, fmt.Errorf("augment: records of %s: %w", m.system, err)
	}
	return out, nil
}

// state is the state of a run: the other system's state, which is nil before that system has one,
// and the chosen candidate, which is the first before the choice.
type state struct {
	inner  *synth.File
	chosen int
}

type stateJSON struct {
	Chosen   int             `json:"chosen"`
	Kept     bool            `json:"kept"` // whether the other system has state
	Header   json.RawMessage `json:"header,omitempty"`
	Sections int             `json:"sections"`
}

// file returns the state as one file.
func (s *state) file() (*synth.File, error) {
	j := stateJSON{Chosen: s.chosen}
	if s.inner != nil {
		j.Kept, j.Header, j.Sections = true, s.inner.Header, len(s.inner.Sections)
	}
	out, err := synth.NewFile(j)
	if err == nil && s.inner != nil {
		out.Sections = append(out.Sections, s.inner.Sections...)
	}
	return out, err
}

// restore reads the state that file returned.
//
// Errors: synth.ErrFormat.
func (s *state) restore(f *synth.File, candidates int) error {
	if f == nil {
		return nil
	}
	var j stateJSON
	if err := f.Decode(&j); err != nil {
		return err
	}
	if j.Chosen < 0 || j.Chosen >= candidates {
		return synth.Malformed(fmt.Errorf("candidate %d of %d", j.Chosen, candidates))
	}
	if j.Sections != len(f.Sections) || !j.Kept && j.Sections > 0 {
		return synth.Malformed(errors.New("a state with missing sections"))
	}
	s.chosen = j.Chosen
	if j.Kept {
		s.inner = &synth.File{Header: j.Header, Sections: f.Sections}
	}
	return nil
}
