package merf

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// A Model is a generator trained against an embedding: its network and the noisy proportions of classes. It holds
// nothing else, and everything done with it is free. It is safe for concurrent use.
type Model struct {
	schema    records.Schema
	generator GeneratorConfig
	backend   device.Backend
	net       models.Generator
	shares    []float64 // noisy proportions of classes
	guarantee accountant.Guarantee
}

// Guarantee says what was promised, to whom, and what it does not cover.
func (m *Model) Guarantee() accountant.Guarantee { return m.guarantee }

// Schema is the schema of the synthetic records: that of the real ones, labels included.
func (m *Model) Schema() records.Schema { return m.schema }

// Proportions are the probabilities with which classes are generated where none is asked for.
func (m *Model) Proportions() []float64 {
	out := append([]float64(nil), m.shares...)
	if m.generator.Labels == UniformLabels {
		for i := range out {
			out[i] = 1 / float64(len(out))
		}
	}
	return out
}

// WithLabels is the same generator with another way to draw labels.
func (m *Model) WithLabels(l LabelDraw) *Model {
	c := *m
	c.generator.Labels = l
	return &c
}

// Draw says which synthetic records are wanted. Class asks for one class; Means for the mean of binary coordinates,
// and in tables for the most probable level of each column instead of a drawn one.
type Draw = release.Draw

// All draws from every class, from a fresh seed.
func All() Draw { return release.All() }

// DrawSchema is the schema of the records of a draw: means of binary records are not binary.
func (m *Model) DrawSchema(d Draw) records.Schema {
	s := m.schema
	if !d.Means || !s.IsBinary() {
		return s
	}
	return system.MeansOf(s)
}

// Chunks generates n records in pieces of bounded size. The caller chooses n: how many records were trained on plays
// no part.
//
// Errors: ctx.Err(); *param.Error for a negative n or a class that does not exist.
func (m *Model) Chunks(ctx context.Context, n int, d Draw) iter.Seq2[records.Data, error] {
	return system.Chunks(ctx, n, func() (func(n int) (records.Data, error), error) {
		if err := m.check(n, d); err != nil {
			return nil, err
		}
		return m.sampler(d).next, nil
	})
}

func (m *Model) check(n int, d Draw) error {
	var k param.Checker
	k.OK(n >= 0, "n", n, "the number of records, zero or more")
	k.OK(d.Cluster == -1 || d.Cluster == 0, "merf.Draw.Cluster", d.Cluster, "-1: there is one generator")
	want := "no class: the records carry none"
	if classes := m.schema.Classes(); classes > 0 {
		want = fmt.Sprintf("a class in [0, %d), or -1 for all", classes)
	}
	k.OK(d.Class >= -1 && d.Class < m.schema.Classes(), "merf.Draw.Class", d.Class, want)
	return k.Err()
}

// sampler holds one caller's scratch.
type sampler struct {
	model  *Model
	draw   Draw
	rng    *rand.Rand
	cum    []float64
	blocks []rff.Block // of a table
	labels []int32
	host   []float32
	codes  device.Matrix
	out    device.Matrix
}

func (m *Model) sampler(d Draw) *sampler {
	s := &sampler{model: m, draw: d, rng: rand.New(rand.NewPCG(d.Seed, 0x6d657267)), blocks: tableBlocks(m.schema)}
	total := 0.0
	for _, w := range m.Proportions() {
		total += w
		s.cum = append(s.cum, total)
	}
	width := codeWidth(m.generator.Latent, m.schema)
	s.host = make([]float32, system.SampleChunk*width)
	s.codes, s.out = m.backend.New(system.SampleChunk, width), m.backend.New(system.SampleChunk, m.net.Dim())
	return s
}

// next generates one chunk.
func (s *sampler) next(n int) (records.Data, error) {
	s.labels = make([]int32, n) // the chunk that is handed out keeps it
	for i := range s.labels {
		s.labels[i] = int32(s.pick())
	}
	codes, out := s.codes.RowRange(0, n), s.out.RowRange(0, n)
	fillCodes(s.rng, s.host[:n*codes.Cols], codes.Cols, s.model.generator.Latent, func(i int) int { return int(s.labels[i]) })
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
