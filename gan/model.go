package gan

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
)

// A Model is what a run releases: the generator. It holds nothing else, and everything done with it is free. It is
// safe for concurrent use.
type Model struct {
	config    Config // Schema, Generator, Latent, IgnoreLabels and ClassWeights alone
	backend   device.Backend
	net       models.Generator
	guarantee accountant.Guarantee
}

// model is the generator as it is.
func (r *run) model() (*Model, error) {
	net, err := r.config.newGenerator(r.backend)
	if err != nil {
		return nil, err
	}
	if err := r.learner.release(net, r.config); err != nil {
		return nil, fmt.Errorf("gan: %w", err)
	}
	c := r.config
	return &Model{config: Config{Schema: c.Schema, Generator: c.Generator, Latent: c.Latent, IgnoreLabels: c.IgnoreLabels, ClassWeights: c.ClassWeights},
		backend: r.backend, net: net, guarantee: r.ledger.Guarantee()}, nil
}

// Guarantee says what was promised, to whom, and what it does not cover.
func (m *Model) Guarantee() accountant.Guarantee { return m.guarantee }

// Schema is the schema of the synthetic records, with the real ones' labels if the networks know them.
func (m *Model) Schema() records.Schema {
	if m.config.IgnoreLabels {
		return m.config.Schema.WithoutLabels()
	}
	return m.config.Schema
}

// Latent is the number of coordinates of a code, the label's not counted.
func (m *Model) Latent() int { return m.config.Latent }

// Draw says which synthetic records are wanted. Class asks for one class; Means for the mean of binary coordinates.
type Draw = release.Draw

// All draws from every class, from a fresh seed.
func All() Draw { return release.All() }

// DrawSchema is the schema of the records of a draw: means of binary records are not binary.
func (m *Model) DrawSchema(d Draw) records.Schema {
	s := m.Schema()
	if !d.Means || !s.IsBinary() || s.Kind() == records.MixedTable {
		return s
	}
	return system.MeansOf(s)
}

// Chunks generates n records in pieces of bounded size. The caller chooses n: how many records were trained on plays no
// part. Classes come by the public ClassWeights.
//
// Errors: ctx.Err(); *param.Error for a negative n or a class that does not exist.
func (m *Model) Chunks(ctx context.Context, n int, d Draw) iter.Seq2[records.Data, error] {
	return system.Chunks(ctx, n, func() (func(n int) (records.Data, error), error) {
		if err := m.check(n, d); err != nil {
			return nil, err
		}
		s := &sampler{model: m, draw: d, rng: rand.New(rand.NewPCG(d.Seed, 0x67616e)), maker: newMaker(m.backend, m.net, m.config)}
		return s.next, nil
	})
}

func (m *Model) check(n int, d Draw) error {
	var k param.Checker
	k.OK(n >= 0, "n", n, "the number of records, zero or more")
	k.OK(d.Cluster == -1 || d.Cluster == 0, "gan.Draw.Cluster", d.Cluster, "-1: there is one generator")
	classes := m.config.classes()
	want := "no class: labels are not modelled"
	if classes > 0 {
		want = fmt.Sprintf("a class in [0, %d), or -1 for all", classes)
	}
	k.OK(d.Class >= -1 && d.Class < classes, "gan.Draw.Class", d.Class, want)
	return k.Err()
}

// Generate makes the record of every code with its label, as numbers in [0,1] (tables: probabilities of levels), for
// those who need to know which code a record came from.
//
// Shapes: codes has rows of Latent numbers, labels one entry a row or nil where the model knows none, dst rows of the
// schema's Dim.
// Errors: *param.Error for shapes that do not fit.
func (m *Model) Generate(codes device.Matrix, labels []int32, dst device.Matrix) error {
	var k param.Checker
	k.OK(codes.Cols == m.config.Latent && codes.Mem == nil, "gan.Model.Generate.codes", codes.Cols, fmt.Sprintf("host rows of %d numbers", m.config.Latent))
	k.OK(dst.Rows == codes.Rows && dst.Cols == m.net.Dim() && dst.Mem == nil, "gan.Model.Generate.dst", dst.Cols, fmt.Sprintf("as many host rows of %d numbers", m.net.Dim()))
	k.OK((labels == nil) == (m.config.classes() == 0) && (labels == nil || len(labels) == codes.Rows), "gan.Model.Generate.labels", len(labels), "one a row, or nil where the model knows none")
	if k.Err() != nil || codes.Rows == 0 {
		return k.Err()
	}
	maker := newMaker(m.backend, m.net, m.config)
	for lo := 0; lo < codes.Rows; lo += system.SampleChunk {
		hi := min(lo+system.SampleChunk, codes.Rows)
		host, coded, out := maker.resize(hi - lo)
		for i := lo; i < hi; i++ {
			row := host[(i-lo)*coded.Cols : (i-lo+1)*coded.Cols]
			copy(row, codes.Row(i))
			label := int32(-1)
			if labels != nil {
				label = labels[i]
			}
			maker.code(row, label)
		}
		m.backend.Upload(coded, host)
		m.net.Generate(coded, out)
		for i := lo; i < hi; i++ {
			m.backend.Download(dst.Row(i), out.RowRange(i-lo, i-lo+1))
		}
	}
	return nil
}

// sampler holds one caller's scratch.
type sampler struct {
	model *Model
	draw  Draw
	rng   *rand.Rand
	maker *maker
}

// next generates one chunk.
func (s *sampler) next(n int) (records.Data, error) {
	labels := make([]int32, n) // the chunk that is handed out keeps it
	for i := range labels {
		labels[i] = int32(s.draw.Class)
		if s.draw.Class < 0 {
			labels[i] = s.maker.pick(s.rng)
		}
	}
	codes, out := s.maker.draw(s.rng, labels)
	s.model.net.Generate(codes, out)
	flat := make([]float32, n*out.Cols)
	s.model.backend.Download(flat, out)
	if s.model.config.classes() == 0 {
		labels = nil
	}
	return s.decode(flat, labels)
}

// decode turns what the network states into records of the draw's schema.
func (s *sampler) decode(flat []float32, labels []int32) (records.Data, error) {
	schema := s.model.DrawSchema(s.draw)
	if schema.Kind() == records.MixedTable {
		return records.DecodeFlat(schema, flat, labels...)
	}
	return system.Records(s.rng, schema, flat, labels)
}
