package pool

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/bundle"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Model is the released result: the models of all systems. [Stage] returns the generator of one of
// them.
type Model struct {
	systems []string
	models  []synth.Model
	shares  []float64 // of the synthetic records; their sum is 1
}

// Schema returns the schema of the synthetic records.
func (m *Model) Schema() records.Schema { return m.models[0].Schema() }

// Systems returns the names of the systems.
func (m *Model) Systems() []string {
	if m == nil {
		return nil
	}
	return append([]string(nil), m.systems...)
}

// Stage returns the generator of system i of a pool, counted from 0. Its guarantee is the guarantee
// of the whole pool.
//
// Errors: *param.Error for a generator that is not of a pool, and for a number that is not of a
// system.
func Stage(g *synth.Generator, i int) (*synth.Generator, error) {
	m, ok := g.Model().(*Model)
	if !ok || m == nil {
		return nil, param.New("pool.Stage.g", g.System(), "a generator of a pool")
	}
	if i < 0 || i >= len(m.models) {
		return nil, param.New("pool.Stage.i", i, fmt.Sprintf("0 to %d", len(m.models)-1))
	}
	return synth.NewGenerator(m.systems[i], m.models[i], g.Guarantee()), nil
}

type modelJSON struct {
	Models []bundle.Model `json:"models"`
	Shares []float64      `json:"shares"`
}

// Encode writes all models.
//
// Errors: all errors of the models' Encode.
func (m *Model) Encode() (*synth.File, error) {
	list, sections, err := bundle.Encode(m.systems, m.models)
	if err != nil {
		return nil, err
	}
	header, err := json.Marshal(modelJSON{list, m.shares})
	return &synth.File{Kind: systemName, Header: header, Sections: sections}, err
}

func readModel(f *synth.File, l synth.Loading, of synth.Systems) (synth.Model, error) {
	var j modelJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	n := len(j.Models)
	if n < leastPlans || n > mostPlans || len(j.Shares) != n {
		return nil, synth.Malformed(fmt.Errorf("%d models with %d shares", n, len(j.Shares)))
	}
	sum := 0.0
	for _, share := range j.Shares {
		if sum += share; !(share > 0) {
			return nil, synth.Malformed(errors.New("a share that is not positive"))
		}
	}
	if !(sum > 1-1e-6 && sum < 1+1e-6) {
		return nil, synth.Malformed(fmt.Errorf("shares with sum %g, want 1", sum))
	}
	systems, models, err := bundle.Decode(j.Models, f.Sections, l, of)
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		if !m.Schema().Equal(models[0].Schema()) {
			return nil, synth.Malformed(fmt.Errorf("models of different records: %w", synth.ErrSchema))
		}
	}
	return &Model{systems: systems, models: models, shares: j.Shares}, nil
}
