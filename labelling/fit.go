package labelling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/synth"
)

// Judge makes the other system's checks and builds the classifier.
func (w *work) Judge(r *synth.Run) error {
	if err := r.JudgeInner(w.config.inner()); err != nil {
		return err
	}
	_, err := w.learning(r)
	return err
}

// Fit trains the classifier and carries out the other system. Neither uses the result of the other.
func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	l, err := w.learning(r)
	if err != nil {
		return nil, err
	}
	s := state{learning: l}
	drawn := w.config.Train.Steps - r.Allowance(PurposeClassifier).Remaining()
	if err := s.restore(r.Saved(), drawn); err != nil {
		return nil, err
	}
	r.Keep(s.file)
	if err := l.run(ctx, r); err != nil {
		return nil, err
	}
	if err := r.Save(); err != nil { // the classifier is complete
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
	return newModel(ctx, w.config, r.ReleaseBackend(), of, l.released())
}

// state is the state of a run: the classifier's training and the other system's state, which is nil
// before the other system has one.
type state struct {
	learning *learning
	inner    *synth.File
}

type stateJSON struct {
	Steps    int             `json:"steps"` // of the classifier
	Kept     bool            `json:"kept"`  // whether the other system has state
	Header   json.RawMessage `json:"header,omitempty"`
	Sections int             `json:"sections"`
}

// file returns the state as one file.
func (s *state) file() (*synth.File, error) {
	j := stateJSON{Steps: s.learning.steps}
	if s.inner != nil {
		j.Kept, j.Header, j.Sections = true, s.inner.Header, len(s.inner.Sections)
	}
	out, err := synth.NewFile(j, s.learning.parts()...)
	if err == nil && s.inner != nil {
		out.Sections = append(out.Sections, s.inner.Sections...)
	}
	return out, err
}

// restore reads the state that file returned. The argument drawn is the number of classifier steps
// taken, including lost steps.
//
// Errors: synth.ErrFormat.
func (s *state) restore(f *synth.File, drawn int) error {
	if f == nil {
		return nil
	}
	var j stateJSON
	if err := f.Decode(&j); err != nil {
		return err
	}
	if j.Steps < 0 || j.Steps > drawn {
		return synth.Malformed(fmt.Errorf("a state after %d classifier steps; want at most %d", j.Steps,
			drawn))
	}
	own := s.learning.parts()
	if err := f.Load(own...); err != nil {
		return err
	}
	s.learning.steps = j.Steps
	rest := f.Sections[min(len(own), len(f.Sections)):]
	if j.Sections != len(rest) || !j.Kept && j.Sections > 0 {
		return synth.Malformed(errors.New("a state with missing sections"))
	}
	if j.Kept {
		s.inner = &synth.File{Header: j.Header, Sections: rest}
	}
	return nil
}
