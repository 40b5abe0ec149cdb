package synth

import (
	"context"
	"iter"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Model is what a system releases about the records: the part of a [Generator] that differs from
// system to system. It holds released state only, and is safe for concurrent use.
type Model interface {
	// Schema is the schema of the synthetic records.
	Schema() records.Schema
	// Sampler opens one caller's draw, which has been found to fit the model's schema and clusters.
	Sampler(Draw) (Sampler, error)
	// Encode writes the model: a header in JSON and sections of numbers.
	Encode() (*File, error)
}

// A Sampler generates synthetic records for one caller.
type Sampler struct {
	Schema records.Schema // of the records of this draw: means of binary records are not binary
	Next   func(n int) (records.Data, error)
}

// A Mixture is a model made of clusters.
type Mixture interface {
	Clusters() int
	Weights() []float64
	Assign(b device.Batch, dst []int32)
}

// A Generator is what a run releases. It holds released state only: sampling it any number of
// times, saving it and giving it away reveal nothing beyond its Guarantee. It is safe for
// concurrent use. The zero value holds no model: it has no records to draw and promises nothing.
type Generator struct {
	system    string
	model     Model
	guarantee accountant.Guarantee
}

// NewGenerator makes a generator of a model that has been released before, such as one that was
// trained against a saved release; the guarantee is that of the release.
func NewGenerator(system string, m Model, g accountant.Guarantee) *Generator {
	return &Generator{system: system, model: m, guarantee: g}
}

// made refuses the zero value.
func (g *Generator) made() error {
	if g == nil || g.model == nil {
		return param.New("synth.Generator", nil, "a generator, from a plan's Fit or a file")
	}
	return nil
}

// System is the name of the system that made the generator.
func (g *Generator) System() string {
	if g == nil {
		return ""
	}
	return g.system
}

// Model is the system's own part of the generator, for what only that system can do: for example
// gen.Model().(*mix.Model).Rows(). It is nil for the zero value.
func (g *Generator) Model() Model {
	if g == nil {
		return nil
	}
	return g.model
}

// Guarantee says what is promised about the records the generator was trained on, every release
// that led to it, and what the promise does not cover.
func (g *Generator) Guarantee() accountant.Guarantee {
	if g.made() != nil {
		return accountant.Guarantee{NotPrivate: "nothing has been trained"}
	}
	return g.guarantee
}

// Schema is the schema of the synthetic records.
func (g *Generator) Schema() records.Schema {
	if g.made() != nil {
		return records.Schema{}
	}
	return g.model.Schema()
}

// String says what the generator is and what is promised about it.
func (g *Generator) String() string {
	if g.made() != nil {
		return "generator: none"
	}
	return "generator: " + g.system + ", " + g.Schema().String()
}

// Clusters is the number of components of a mixture, 1 for other generators.
func (g *Generator) Clusters() int {
	if m, ok := g.Model().(Mixture); ok {
		return m.Clusters()
	}
	return 1
}

// Weights are the probabilities of the clusters.
func (g *Generator) Weights() []float64 {
	if m, ok := g.Model().(Mixture); ok {
		return m.Weights()
	}
	return []float64{1}
}

// Assign says which cluster each record of a batch would belong to. It uses released centres only,
// so it may be asked about any record.
func (g *Generator) Assign(b device.Batch, dst []int32) {
	if m, ok := g.Model().(Mixture); ok {
		m.Assign(b, dst)
		return
	}
	clear(dst)
}

// Sample generates n records. The caller chooses n: how many records were trained on is private and
// plays no part.
//
// Records of a table obey the constraints that are declared with its schema, and of any draw those
// that [Given] states for it; identifiers are made afresh.
//
// Errors: ctx.Err(); *param.Error for a negative n, for a cluster or a class that does not exist,
// or for constraints that the records cannot have; *[Rejected] where constraints leave too few.
func (g *Generator) Sample(ctx context.Context, n int, opts ...DrawOption) (records.Data, error) {
	d := drawOf(opts)
	s, err := g.open(n, d)
	if err != nil {
		return nil, err
	}
	var parts []records.Data
	for chunk, err := range s.chunks(ctx, n) {
		if err != nil {
			return nil, err
		}
		parts = append(parts, chunk)
	}
	return records.Concat(s.Schema, parts...)
}

// Stream generates n records in chunks, in memory that does not grow with n.
//
// Errors: those of Sample.
func (g *Generator) Stream(ctx context.Context, n int,
	opts ...DrawOption) iter.Seq2[records.Data, error] {
	d := drawOf(opts) // every iteration gives the same records
	return func(yield func(records.Data, error) bool) {
		s, err := g.open(n, d)
		if err != nil {
			yield(nil, err)
			return
		}
		s.chunks(ctx, n)(yield)
	}
}

// SampleChunk is how many records a [Sampler] is asked for at once, at most: it bounds the memory
// of a draw, however many records it asks for.
const SampleChunk = 1024
