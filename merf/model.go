package merf

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Model is a generator trained against an embedding. It holds only its networks, which generate
// records in turn, and the noisy proportions of the classes. Using it costs no privacy. It is safe
// for concurrent use.
type Model struct {
	schema    records.Schema
	generator GeneratorConfig
	backend   device.Backend
	nets      []models.Generator
	shares    []float64 // noisy proportions of classes
}

// Schema returns the schema of the synthetic records. It is the schema of the real records,
// including labels.
func (m *Model) Schema() records.Schema {
	if m == nil {
		return records.Schema{}
	}
	return m.schema
}

// Proportions returns the probabilities with which a draw chooses classes if it requests no class.
func (m *Model) Proportions() []float64 {
	if m.made() != nil {
		return nil
	}
	return slices.Clone(m.shares)
}

// made returns an error for the zero value.
func (m *Model) made() error {
	if m == nil || len(m.nets) == 0 {
		return param.New("merf.Model", nil, "the model of a trained generator")
	}
	return nil
}

// Sampler starts a draw. With Draw.Means it returns the mean of each binary coordinate and, in
// tables, the most probable level of each column.
//
// Errors: *param.Error for the zero value.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	if err := m.made(); err != nil {
		return synth.Sampler{}, err
	}
	maker := network.Maker{Codes: codesOf(m.backend, m.generator.Latent, m.schema), Net: m.nets[0],
		Others: m.nets[1:], Choice: network.NewChoice(m.Proportions())}
	return maker.Sampler(m.schema, d, rand.New(rand.NewPCG(d.Seed, 0x6d657267))), nil
}

// Layers returns the layers of the generator's network for use in other programs; see connect/onnx.
// The input is a code: Latent standard Gaussians and, if the schema has classes, the one-hot class.
// The outputs are numbers in [0,1], such as the means of binary coordinates and the probabilities
// of levels. The other program must draw the Gaussians, draw the classes with the probabilities
// that Proportions returns, and draw records from the outputs.
//
// Errors: *param.Error for the zero value, for a generator of several networks (call Layers on each
// [Model.Network] instead), and for a network that is not [models.Layered].
func (m *Model) Layers() ([]models.Layer, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	if n := len(m.nets); n > 1 {
		return nil, param.New("merf.Model.Layers", n, "one network: choose one by Model.Network")
	}
	return models.LayersOf(m.nets[0])
}

// Networks returns the number of networks, which generate records in turn.
func (m *Model) Networks() int {
	if m == nil {
		return 0
	}
	return len(m.nets)
}

// Network returns a generator with network i only. It serves comparisons, and programs that read
// the layers of one network.
//
// Errors: *param.Error if there is no network i.
func (m *Model) Network(i int) (*Model, error) {
	if i < 0 || i >= m.Networks() {
		return nil, param.New("merf.Model.Network", i,
			fmt.Sprintf("a number from 0 to %d: there are %d networks", m.Networks()-1, m.Networks()))
	}
	one := *m
	one.nets = m.nets[i : i+1]
	return &one, nil
}
