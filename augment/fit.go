package augment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/evaluate/classify"
	"github.com/seed7ba64551/privgen/internal/network"
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
	drawn, err := m.drawn(w.config.Records)
	if err != nil {
		return nil, err
	}
	by := make([]*classify.Classifier, len(w.config.Candidates))
	for i, candidate := range w.config.Candidates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if by[i], err = learn(drawn, candidate, w.config.Seed); err != nil {
			by[i] = nil // no classifier can learn from this change, so it recognises nothing
		}
	}
	counts, err := recognisedBy(ctx, by, r.Data)
	if err == nil && records.Failed(r.Data) {
		err = synth.ErrData
	}
	return counts, err
}

// recognisedBy returns the number of records whose class each classifier predicts. A nil classifier
// predicts none.
//
// Guarantee: a record adds 0 or 1 to every number, independently of the other records, because the
// classifiers compute on the CPU; see device.Promises.
func recognisedBy(ctx context.Context, by []*classify.Classifier, data records.Data) ([]int64,
	error) {
	var labels []int32
	err := network.EachBatch(ctx, data, batch, func(_ int, b device.Batch) {
		labels = append(labels, b.Labels...)
	})
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(by))
	for i, c := range by {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		named, err := c.Predict(data)
		if err != nil {
			return nil, err
		}
		counts[i] = matches(named, labels)
	}
	return counts, nil
}

const batch = 1024

// matches counts the equal pairs. Records without a label match nothing.
func matches(named, labels []int32) (n int64) {
	for i, label := range labels {
		if i < len(named) && named[i] == label {
			n++
		}
	}
	return n
}

// learn trains a classifier on changed synthetic records: a convolutional network on images, and
// logistic regression on other records. All of it is computed on the CPU.
func learn(drawn records.Data, c Candidate, seed uint64) (*classify.Classifier, error) {
	rows, err := c.Apply(drawn, seed)
	if err != nil {
		return nil, err
	}
	if rows.Schema().IsImage() {
		return classify.Convolutional{Training: classify.NeuralNetwork{Seed: seed,
			Backend: device.CPU()}}.Fit(rows)
	}
	return classify.LogisticRegression{}.Fit(rows)
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
