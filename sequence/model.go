package sequence

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/bundle"
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
	Models []bundle.Model `json:"models"`
}

// Encode writes both models.
//
// Errors: all errors of the models' Encode.
func (m *Model) Encode() (*synth.File, error) {
	list, sections, err := bundle.Encode(m.systems[:], []synth.Model{m.first, m.Model})
	if err != nil {
		return nil, err
	}
	header, err := json.Marshal(modelJSON{list})
	return &synth.File{Kind: systemName, Header: header, Sections: sections}, err
}

func readModel(f *synth.File, l synth.Loading, of synth.Systems) (synth.Model, error) {
	var j modelJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	if len(j.Models) != 2 {
		return nil, synth.Malformed(fmt.Errorf("%d models in a sequence, want 2", len(j.Models)))
	}
	systems, models, err := bundle.Decode(j.Models, f.Sections, l, of)
	if err != nil {
		return nil, err
	}
	return &Model{Wrapped: synth.Wrapped{Model: models[1]}, first: models[0],
		systems: [2]string(systems)}, nil
}
