package sequence

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/synth"
)

// Model is the release of a sequence: the models of both systems. It draws records from the second
// model. [Stage] returns the generator of either system.
type Model struct {
	synth.Wrapped
	first   synth.Model
	systems [2]string
}

// Stage returns the generator of one system of a sequence, 0 for the first and 1 for the second.
// Its guarantee is the guarantee of the whole sequence.
//
// Errors: *param.Error for a generator that is not of a sequence, and for a number other than 0 and
// 1.
func Stage(g *synth.Generator, i int) (*synth.Generator, error) {
	m, ok := g.Model().(*Model)
	var k param.Checker
	k.OK(ok && m != nil, "sequence.Stage.g", g.System(), "a generator of a sequence")
	k.OK(i == 0 || i == 1, "sequence.Stage.i", i, "0 or 1")
	if err := k.Err(); err != nil {
		return nil, err
	}
	of := []synth.Model{m.first, m.Model}[i]
	return synth.NewGenerator(m.systems[i], of, g.Guarantee()), nil
}

type modelJSON struct {
	Models []innerJSON `json:"models"`
}

type innerJSON struct {
	System   string          `json:"system"`
	Model    json.RawMessage `json:"model"`
	Sections int             `json:"sections"`
}

// Encode writes both models.
//
// Errors: all errors of the models' Encode.
func (m *Model) Encode() (*synth.File, error) {
	var j modelJSON
	out := &synth.File{Kind: systemName}
	for i, of := range []synth.Model{m.first, m.Model} {
		f, err := of.Encode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.systems[i], err)
		}
		j.Models = append(j.Models, innerJSON{m.systems[i], f.Header, len(f.Sections)})
		out.Sections = append(out.Sections, f.Sections...)
	}
	var err error
	out.Header, err = json.Marshal(j)
	return out, err
}

func readModel(f *synth.File, l synth.Loading, of synth.Systems) (synth.Model, error) {
	var j modelJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	if len(j.Models) != 2 {
		return nil, synth.Malformed(fmt.Errorf("%d models in a sequence, want 2", len(j.Models)))
	}
	out := &Model{}
	var models [2]synth.Model
	left := f.Sections
	for i, inner := range j.Models {
		if inner.Sections < 0 || inner.Sections > len(left) {
			return nil, synth.Malformed(errors.New("a model with missing sections"))
		}
		own := &synth.File{Kind: inner.System, Header: inner.Model, Sections: left[:inner.Sections]}
		left = left[inner.Sections:]
		var err error
		if models[i], err = of.ReadModel(own, l); err != nil {
			return nil, err
		}
		out.systems[i] = inner.System
	}
	out.first, out.Wrapped = models[0], synth.Wrapped{Model: models[1]}
	return out, nil
}
