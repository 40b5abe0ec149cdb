package merf

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Model is a generator trained against an embedding: its networks, which generate records in
// turn, and the noisy proportions of classes. It holds nothing else, and using it costs no privacy.
// It is safe for concurrent use.
type Model struct {
	schema    records.Schema
	generator GeneratorConfig
	backend   device.Backend
	nets      []models.Generator
	shares    []float64 // noisy proportions of classes
}

// Schema returns the schema of the synthetic records, which is that of the real ones, including
// labels.
func (m *Model) Schema() records.Schema {
	if m == nil {
		return records.Schema{}
	}
	return m.schema
}

// Proportions returns the probabilities of the classes if no class is requested.
func (m *Model) Proportions() []float64 {
	if m.made() != nil {
		return nil
	}
	out := slices.Clone(m.shares)
	if m.generator.Labels == UniformLabels {
		for i := range out {
			out[i] = 1 / float64(len(out))
		}
	}
	return out
}

// WithLabels returns the same generator with another way to draw labels.
//
// Errors: *param.Error for a generator of another system, or an unknown way.
func WithLabels(g *synth.Generator, l LabelDraw) (*synth.Generator, error) {
	m, ok := g.Model().(*Model)
	var k param.Checker
	k.OK(ok && m.made() == nil, "merf.WithLabels.g", g.System(), "a generator of package merf")
	k.OK(labelDrawNames.Known(l), "merf.WithLabels.l", int(l), "NoisyProportions or UniformLabels")
	if err := k.Err(); err != nil {
		return nil, err
	}
	c := *m
	c.generator.Labels = l
	return synth.NewGenerator(systemName, &c, g.Guarantee()), nil
}

// made returns an error for the zero value.
func (m *Model) made() error {
	if m == nil || len(m.nets) == 0 {
		return param.New("merf.Model", nil, "the model of a trained generator")
	}
	return nil
}

// Sampler starts a draw. Draw.Means requests the mean of binary coordinates and, in tables, the
// most probable level of each column.
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

// Layers returns the layers of the generator's network, for other programs; see connect/onnx. The
// input is a code: the configuration's Latent standard Gaussians, then the class, one-hot, if the
// schema has classes. The outputs are numbers in [0,1]: means of binary coordinates, and
// probabilities of levels. The other program must draw the codes, the classes by Proportions, and
// the records from the outputs.
//
// Errors: *param.Error for the zero value, for a generator of several networks, whose layers are
// those of each [Model.Network], and for a network that is not [models.Layered].
func (m *Model) Layers() ([]models.Layer, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	if n := len(m.nets); n > 1 {
		return nil, param.New("merf.Model.Layers", n, "one network: choose one by Model.Network")
	}
	return models.LayersOf(m.nets[0])
}

// Networks returns the number of networks that generate records in turn.
func (m *Model) Networks() int {
	if m == nil {
		return 0
	}
	return len(m.nets)
}

// Network returns a generator with one of the networks only, for comparisons and for programs that
// read the layers of one network.
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
