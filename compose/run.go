package compose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A run is the run of a composition. It holds the states of the parts.
type run struct {
	*synth.Run
	frame *frame

	states []*synth.File // of the parts; nil before a part has one
	models []synth.Model // of the parts that are complete

	own   func() (header any, parts []synth.Part) // the composition's own state; nil for none
	saved *synth.File                             // the own state that was saved; nil for none
}

// Fit carries out the composition.
func (f *frame) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	own := &run{Run: r, frame: f}
	if err := own.restore(r.Saved()); err != nil {
		return nil, err
	}
	r.Keep(own.file)
	m, err := f.fit(ctx, own)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// part carries out part i on the given records. Its last state is then saved.
func (r *run) part(ctx context.Context, i int, data records.Data) (synth.Model, error) {
	part := r.frame.parts()[i]
	part.Data, part.Saved = data, r.states[i]
	part.Keep = func(f *synth.File) (*synth.File, error) {
		r.states[i] = f
		return r.file()
	}
	m, err := r.FitInner(network.Sharing(ctx, len(r.frame.plans)), part)
	if err != nil {
		return nil, err
	}
	if err := r.Save(); err != nil { // the last state of the part
		return nil, err
	}
	r.Keep(r.file)
	r.models = append(r.models, m)
	return m, nil
}

// model returns the released result.
func (r *run) model(own released) *model {
	return &model{released: own, kind: r.frame.kind(), systems: r.frame.systems(), of: r.models}
}

// keeps sets the composition's own state, and takes up the one that was saved.
//
// Errors: synth.ErrFormat; the error of check, which sees the header that was saved.
func (r *run) keeps(header any, own func() (any, []synth.Part), check func() error) error {
	r.own = own
	if r.saved == nil {
		return nil
	}
	if err := r.saved.Decode(header); err != nil {
		return err
	}
	if err := check(); err != nil {
		return synth.Malformed(err)
	}
	_, parts := own()
	return r.saved.Load(parts...)
}

type stateJSON struct {
	Own      json.RawMessage `json:"own,omitempty"`
	Sections int             `json:"sections"` // of the own state
	Parts    []partJSON      `json:"parts"`
}

type partJSON struct {
	HasState bool            `json:"has_state"`
	Header   json.RawMessage `json:"header,omitempty"`
	Sections int             `json:"sections"`
}

// file returns all states as one file.
func (r *run) file() (*synth.File, error) {
	var j stateJSON
	out := &synth.File{}
	if r.own != nil {
		header, parts := r.own()
		f, err := synth.NewFile(header, parts...)
		if err != nil {
			return nil, err
		}
		j.Own, j.Sections, out.Sections = f.Header, len(f.Sections), f.Sections
	}
	for _, f := range r.states {
		var part partJSON
		if f != nil {
			part = partJSON{true, f.Header, len(f.Sections)}
			out.Sections = append(out.Sections, f.Sections...)
		}
		j.Parts = append(j.Parts, part)
	}
	var err error
	out.Header, err = json.Marshal(j)
	return out, err
}

// restore reads the states that file returned. All states are nil if f is nil.
//
// Errors: synth.ErrFormat.
func (r *run) restore(f *synth.File) error {
	r.states = make([]*synth.File, len(r.frame.plans))
	if f == nil {
		return nil
	}
	var j stateJSON
	if err := f.Decode(&j); err != nil {
		return err
	}
	if len(j.Parts) != len(r.states) {
		return synth.Malformed(fmt.Errorf("states of %d systems, want %d", len(j.Parts), len(r.states)))
	}
	left := f.Sections
	missing := synth.Malformed(errors.New("a state with missing sections"))
	take := func(n int) (own []synth.Section, ok bool) {
		if n < 0 || n > len(left) {
			return nil, false
		}
		own, left = cut(left, n)
		return own, true
	}
	own, ok := take(j.Sections)
	if !ok || j.Own == nil && j.Sections > 0 {
		return missing
	}
	if j.Own != nil {
		r.saved = &synth.File{Header: j.Own, Sections: own}
	}
	for i, part := range j.Parts {
		sections, ok := take(part.Sections)
		if !ok || !part.HasState && part.Sections > 0 {
			return missing
		}
		if part.HasState {
			r.states[i] = &synth.File{Header: part.Header, Sections: sections}
		}
	}
	if len(left) > 0 {
		return missing
	}
	return nil
}
