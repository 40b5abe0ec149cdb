// Package bundle joins the files of several systems: their states in one checkpoint, and their
// models in one generator's file.
package bundle

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/synth"
)

// States holds the states of several systems in a checkpoint. A state is nil before its system has
// one.
type States []*synth.File

type stateJSON struct {
	Parts []partJSON `json:"parts"`
}

type partJSON struct {
	Kept     bool            `json:"kept"`
	Header   json.RawMessage `json:"header,omitempty"`
	Sections int             `json:"sections"`
}

// File returns all states as one file of the given kind.
func (s States) File(kind string) (*synth.File, error) {
	var j stateJSON
	out := &synth.File{Kind: kind}
	for _, f := range s {
		if f == nil {
			j.Parts = append(j.Parts, partJSON{})
			continue
		}
		j.Parts = append(j.Parts, partJSON{true, f.Header, len(f.Sections)})
		out.Sections = append(out.Sections, f.Sections...)
	}
	var err error
	out.Header, err = json.Marshal(j)
	return out, err
}

// Restore returns the states of n systems from the result of File. All states are nil if f is nil.
//
// Errors: synth.ErrFormat.
func Restore(f *synth.File, n int) (States, error) {
	s := make(States, n)
	if f == nil {
		return s, nil
	}
	var j stateJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	if len(j.Parts) != n {
		return nil, synth.Malformed(fmt.Errorf("states of %d systems, want %d", len(j.Parts), n))
	}
	left := f.Sections
	for i, part := range j.Parts {
		own, rest, err := cut(left, part.Sections)
		if err != nil {
			return nil, err
		}
		if left = rest; part.Kept {
			s[i] = &synth.File{Header: part.Header, Sections: own}
		}
	}
	return s, nil
}

// cut divides sections after the first n.
//
// Errors: synth.ErrFormat.
func cut(sections []synth.Section, n int) (own, rest []synth.Section, err error) {
	if n < 0 || n > len(sections) {
		return nil, nil, synth.Malformed(errors.New("a part with missing sections"))
	}
	return sections[:n:n], sections[n:], nil
}
