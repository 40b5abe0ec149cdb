package augment

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Model is the released result: the other system's model and the chosen change. It draws records
// from the model and changes them.
type Model struct {
	synth.Wrapped
	system     string // of the other model
	candidates []Candidate
	chosen     int
	seed       uint64
}

// Chosen returns the chosen change.
func (m *Model) Chosen() Candidate {
	if m == nil || len(m.candidates) == 0 {
		return Candidate{}
	}
	return m.candidates[m.chosen]
}

// Sampler starts a draw of changed records.
//
// Errors: all errors of the other model's Sampler.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	of, err := m.Model.Sampler(d)
	if err != nil {
		return synth.Sampler{}, err
	}
	part := uint64(0)
	next := func(n int) (records.Data, error) {
		rows, err := of.Next(n)
		if err != nil {
			return nil, err
		}
		part++
		return m.Chosen().Apply(rows, (m.seed+d.Seed)*0x9e3779b97f4a7c15+part)
	}
	return synth.Sampler{Schema: of.Schema, Next: next, Unaccepted: of.Unaccepted}, nil
}

// Of returns a generator of unchanged records. It has the guarantee of g.
//
// Errors: *param.Error for a generator of another system.
func Of(g *synth.Generator) (*synth.Generator, error) {
	m, ok := g.Model().(*Model)
	if !ok || m == nil {
		return nil, param.New("augment.Of.g", g.System(), "a generator of package augment")
	}
	return synth.NewGenerator(m.system, m.Model, g.Guarantee()), nil
}

type modelJSON struct {
	System     string          `json:"system"`
	Model      json.RawMessage `json:"model"`
	Candidates []Candidate     `json:"candidates"`
	Chosen     int             `json:"chosen"`
	Seed       uint64          `json:"seed,string"`
}

// Encode writes the other system's model and the choice.
//
// Errors: all errors of the other model's Encode.
func (m *Model) Encode() (*synth.File, error) {
	f, err := m.Model.Encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.system, err)
	}
	out, err := synth.NewFile(modelJSON{System: m.system, Model: f.Header,
		Candidates: m.candidates, Chosen: m.chosen, Seed: m.seed})
	if err == nil {
		out.Kind = systemName
		out.Sections = append(out.Sections, f.Sections...)
	}
	return out, err
}

func readModel(f *synth.File, l synth.Loading, of synth.Systems) (synth.Model, error) {
	var j modelJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	inner, err := of.ReadModel(&synth.File{Kind: j.System, Header: j.Model,
		Sections: f.Sections}, l)
	if err != nil {
		return nil, err
	}
	if j.Chosen < 0 || j.Chosen >= len(j.Candidates) || len(j.Candidates) > mostCandidates {
		return nil, synth.Malformed(fmt.Errorf("candidate %d of %d", j.Chosen, len(j.Candidates)))
	}
	var k param.Checker
	for i, c := range j.Candidates {
		c.check(&k, fmt.Sprintf("augment.Model.Candidates[%d]", i), inner.Schema())
	}
	if err := k.Err(); err != nil {
		return nil, synth.Malformed(err)
	}
	return &Model{Wrapped: synth.Wrapped{Model: inner}, system: j.System,
		candidates: slices.Clone(j.Candidates), chosen: j.Chosen, seed: j.Seed}, nil
}
