package merf

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// A Model is a generator trained against an embedding: its network and the noisy proportions of
// classes. It holds nothing else, and everything done with it is free. It is safe for concurrent
// use.
type Model struct {
	schema    records.Schema
	generator GeneratorConfig
	backend   device.Backend
	net       models.Generator
	shares    []float64 // noisy proportions of classes
}

// Schema is the schema of the synthetic records: that of the real ones, labels included.
func (m *Model) Schema() records.Schema {
	if m == nil {
		return records.Schema{}
	}
	return m.schema
}

// Proportions are the probabilities with which classes are generated where none is asked for.
func (m *Model) Proportions() []float64 {
	if m.made() != nil {
		return nil
	}
	out := append([]float64(nil), m.shares...)
	if m.generator.Labels == UniformLabels {
		for i := range out {
			out[i] = 1 / float64(len(out))
		}
	}
	return out
}

// WithLabels is the same generator with another way to draw labels.
//
// Errors: *param.Error for a generator of another system, or an unknown way.
func WithLabels(g *synth.Generator, l LabelDraw) (*synth.Generator, error) {
	m, ok := g.Model().(*Model)
	var k param.Checker
	k.OK(ok && m.made() == nil, "merf.WithLabels.g", g.System(), "a generator of merf")
	k.OK(l.known(), "merf.WithLabels.l", int(l), "a known way to draw labels")
	if err := k.Err(); err != nil {
		return nil, err
	}
	c := *m
	c.generator.Labels = l
	return synth.NewGenerator(systemName, &c, g.Guarantee()), nil
}

// made refuses the zero value.
func (m *Model) made() error {
	if m == nil || m.net == nil {
		return param.New("merf.Model", nil, "a trained generator's model")
	}
	return nil
}

// Sampler opens a draw. Means asks for the mean of binary coordinates, and in tables for the most
// probable level of each column instead of a drawn one.
//
// Errors: *param.Error for the zero value.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	if err := m.made(); err != nil {
		return synth.Sampler{}, err
	}
	schema := m.schema
	if d.Means && schema.IsBinary() {
		schema = network.MeansOf(schema)
	}
	return synth.Sampler{Schema: schema, Next: m.sampler(d, schema).next}, nil
}

// sampler holds one caller's scratch.
type sampler struct {
	model  *Model
	draw   synth.Draw
	schema records.Schema // of the draw
	rng    *rand.Rand
	cum    []float64
	blocks []rff.Block // of a table
	labels []int32
	host   []float32
	codes  device.Matrix
	out    device.Matrix
}

func (m *Model) sampler(d synth.Draw, schema records.Schema) *sampler {
	s := &sampler{model: m, draw: d, schema: schema, rng: rand.New(rand.NewPCG(d.Seed, 0x6d657267)),
		blocks: network.TableBlocks(m.schema)}
	total := 0.0
	for _, w := range m.Proportions() {
		total += w
		s.cum = append(s.cum, total)
	}
	width := codeWidth(m.generator.Latent, m.schema)
	s.host = make([]float32, synth.SampleChunk*width)
	s.codes = m.backend.New(synth.SampleChunk, width)
	s.out = m.backend.New(synth.SampleChunk, m.net.Dim())
	return s
}

// next generates one chunk.
func (s *sampler) next(n int) (records.Data, error) {
	s.labels = make([]int32, n) // the chunk that is handed out keeps it
	for i := range s.labels {
		s.labels[i] = int32(s.pick())
	}
	codes, out := s.codes.RowRange(0, n), s.out.RowRange(0, n)
	fillCodes(s.rng, s.host[:n*codes.Cols], codes.Cols, s.model.generator.Latent,
		func(i int) int { return int(s.labels[i]) })
	s.model.backend.Upload(codes, s.host[:n*codes.Cols])
	s.model.net.Generate(codes, out)
	flat := make([]float32, n*out.Cols)
	s.model.backend.Download(flat, out)
	if s.model.schema.Classes() == 0 {
		s.labels = nil
	}
	return s.decode(flat)
}

// pick draws a class.
func (s *sampler) pick() int {
	if s.draw.Class >= 0 {
		return s.draw.Class
	}
	u := s.rng.Float64() * s.cum[len(s.cum)-1]
	for c, top := range s.cum {
		if u < top {
			return c
		}
	}
	return len(s.cum) - 1
}
