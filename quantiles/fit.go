package quantiles

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/seed7ba64551/privgen/synth"
)

// Fit releases the counts and carries out the other system on ranks.
func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	var s state
	if err := s.restore(r.Saved()); err != nil {
		return nil, err
	}
	c := w.config
	parts, err := c.halves().Release(ctx, r, PurposeCounts, c.NoiseMultiplier)
	if err != nil {
		return nil, err
	}
	m := &Model{schema: c.Schema, cells: c.Cells, system: c.Of.System(), parts: parts,
		columns: columnsOf(c.halves().Attributes, parts)}
	part := c.inner()
	part.Data = ranked{r.Data, c.Of.Schema(), m.columns}
	part.Saved = s.inner
	part.Keep = func(f *synth.File) (*synth.File, error) {
		s.inner = f
		return s.file()
	}
	of, err := r.FitInner(ctx, part)
	if err != nil {
		return nil, err
	}
	m.Wrapped = synth.Wrapped{Model: of}
	m.back, err = backOf(ctx, m, r.Data, c.Seed)
	return m, err
}

// state is the state of a run: the other system's state, which is nil before that system has one.
type state struct{ inner *synth.File }

type stateJSON struct {
	Kept     bool            `json:"kept"` // whether the other system has state
	Header   json.RawMessage `json:"header,omitempty"`
	Sections int             `json:"sections"`
}

// file returns the state as one file.
func (s *state) file() (*synth.File, error) {
	var j stateJSON
	if s.inner != nil {
		j = stateJSON{true, s.inner.Header, len(s.inner.Sections)}
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
func (s *state) restore(f *synth.File) error {
	if f == nil {
		return nil
	}
	var j stateJSON
	if err := f.Decode(&j); err != nil {
		return err
	}
	if j.Sections != len(f.Sections) || !j.Kept && j.Sections > 0 {
		return synth.Malformed(errors.New("a state with missing sections"))
	}
	if j.Kept {
		s.inner = &synth.File{Header: j.Header, Sections: f.Sections}
	}
	return nil
}
