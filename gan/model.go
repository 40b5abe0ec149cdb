package gan

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Model is the released generator: its network and nothing else. Using it costs no privacy. It is
// safe for concurrent use. See [synth.Model].
type Model struct {
	config  Config // Schema, Generator, Latent, and IgnoreLabels only
	backend device.Backend
	net     models.Generator
}

// model returns a copy of the generator in a new network, because the run's network has made fakes
// for private labels.
func (r *run) model() (synth.Model, error) {
	be := r.ReleaseBackend()
	net, err := r.config.newGenerator(be)
	if err != nil {
		return nil, err
	}
	if err := r.learner.release(net, r.config); err != nil {
		return nil, fmt.Errorf("gan: %w", err)
	}
	c := r.config
	return &Model{config: Config{Schema: c.Schema, Generator: c.Generator, Latent: c.Latent,
		IgnoreLabels: c.IgnoreLabels}, backend: be, net: net}, nil
}

// made returns an error for the zero value.
func (m *Model) made() error {
	if m == nil || m.net == nil {
		return param.New("gan.Model", nil, "the model of a generator")
	}
	return nil
}

// Schema returns the schema of the synthetic records. It has the labels of the real records unless
// IgnoreLabels is set.
func (m *Model) Schema() records.Schema {
	if m == nil {
		return records.Schema{}
	}
	if m.config.IgnoreLabels {
		return m.config.Schema.WithoutLabels()
	}
	return m.config.Schema
}

// Sampler starts a draw. All classes have the same probability. See [synth.Model].
//
// Errors: *param.Error for the zero value.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	if err := m.made(); err != nil {
		return synth.Sampler{}, err
	}
	maker, rng := newMaker(m.backend, m.net, m.config), rand.New(rand.NewPCG(d.Seed, 0x67616e))
	return maker.Sampler(m.Schema(), d, rng), nil
}

// Generate computes the record of every code and label, as numbers in [0, 1]. It is for callers
// that need to know the code of each record.
//
// Shapes: codes has rows of Latent numbers. The list labels has one entry per row, or is nil if the
// model has no labels. The matrix dst has rows of the schema's Dim. Errors: *param.Error for wrong
// shapes and for the zero value.
func (m *Model) Generate(codes device.Matrix, labels []int32, dst device.Matrix) error {
	if err := m.made(); err != nil {
		return err
	}
	var k param.Checker
	k.OK(codes.Cols == m.config.Latent && codes.Mem == nil, "gan.Model.Generate.codes", codes.Cols,
		fmt.Sprintf("host rows of %d numbers", m.config.Latent))
	k.OK(dst.Rows == codes.Rows && dst.Cols == m.net.Dim() && dst.Mem == nil, "gan.Model.Generate.dst",
		dst.Cols, fmt.Sprintf("as many host rows of %d numbers", m.net.Dim()))
	known := m.config.classes() > 0
	k.OK((labels != nil) == known && (!known || len(labels) == codes.Rows),
		"gan.Model.Generate.labels", len(labels), "one label per row, or nil if the model has no labels")
	if k.Err() != nil || codes.Rows == 0 {
		return k.Err()
	}
	maker := newMaker(m.backend, m.net, m.config)
	for lo := 0; lo < codes.Rows; lo += synth.SampleChunk {
		n, part := min(synth.SampleChunk, codes.Rows-lo), labels
		if known {
			part = labels[lo : lo+n]
		}
		out := maker.Generate(maker.Fill(n, part, func(i int, code []float32) {
			copy(code, codes.Row(lo+i))
		}))
		for i := range n {
			m.backend.Download(dst.Row(lo+i), out.RowRange(i, i+1))
		}
	}
	return nil
}

// Layers returns the layers of the generator's network for use in other programs; see connect/onnx.
// The input is a code: Latent standard Gaussians and, if the model has classes, the one-hot class.
// The outputs are numbers in [0,1], such as the means of binary coordinates. The other
// program must draw codes and classes, and draw records from the outputs.
//
// Errors: *param.Error for the zero value, and for a network that is not [models.Layered].
func (m *Model) Layers() ([]models.Layer, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	return models.LayersOf(m.net)
}
