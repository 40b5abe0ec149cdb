package synth

import (
	"context"
	"iter"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// A Model is the part of a [Generator] that each system defines. It holds released state only and
// is safe for concurrent use.
type Model interface {
	// Schema returns the schema of the synthetic records.
	Schema() records.Schema
	// Sampler starts a draw for one caller. The draw has been checked against the model's schema
	// and clusters.
	Sampler(Draw) (Sampler, error)
	// Encode returns the model as a file: a header in JSON and sections of numbers.
	Encode() (*File, error)
}

// A Sampler generates synthetic records for one caller.
type Sampler struct {
	Schema records.Schema // of this draw's records: means of binary records are not binary
	Next   func(n int) (records.Data, error)
	// Unaccepted returns the number of records so far that are the best of several attempts, none of
	// which the model itself accepted; see [Accepted]. It is nil for models that accept every record.
	Unaccepted func() int
}

// A Mixture is a model made of clusters.
type Mixture interface {
	Clusters() int
	Weights() []float64
	Assign(b device.Batch, dst []int32)
}

// A Generator is the result of a run. It holds released state only: sampling it any number of
// times, saving it and sharing it reveal nothing beyond its Guarantee. It is safe for concurrent
// use. The zero value holds no model and cannot be sampled.
type Generator struct {
	system    string
	model     Model
	guarantee ledger.Guarantee
}

// NewGenerator returns a generator for a model made from an earlier release, such as a model
// trained against a saved release. The guarantee is the guarantee of the release.
func NewGenerator(system string, m Model, g ledger.Guarantee) *Generator {
	return &Generator{system: system, model: m, guarantee: copied(g)}
}

// made returns an error for the zero value.
func (g *Generator) made() error {
	if g == nil || g.model == nil {
		return param.New("synth.Generator", nil,
			"a generator returned by a plan's Fit or loaded from a file")
	}
	return nil
}

// System returns the name of the system that made the generator.
func (g *Generator) System() string {
	if g == nil {
		return ""
	}
	return g.system
}

// Model returns the system's own part of the generator, for methods of that system alone: for
// example gen.Model().(*mix.Model).Rows(). It is nil for the zero value.
func (g *Generator) Model() Model {
	if g == nil {
		return nil
	}
	return g.model
}

// Guarantee returns the privacy guarantee for the training records: its parameters, the releases
// that led to the generator, and the limits of the guarantee. The result is a copy, which the
// caller may change.
func (g *Generator) Guarantee() ledger.Guarantee {
	if g.made() != nil {
		return ledger.Guarantee{NotPrivate: "nothing has been trained"}
	}
	return copied(g.guarantee)
}

// copied returns a deep copy of the guarantee.
func copied(g ledger.Guarantee) ledger.Guarantee {
	g.Samplers, g.NoiseClass = slices.Clone(g.Samplers), slices.Clone(g.NoiseClass)
	g.Parts = slices.Clone(g.Parts)
	g.Entries, g.NotCovered = slices.Clone(g.Entries), slices.Clone(g.NotCovered)
	for i := range g.Entries {
		e := &g.Entries[i]
		e.Event, e.NoiseClass = slices.Clone(e.Event), slices.Clone(e.NoiseClass)
		e.Lines = pointed(e.Lines)
	}
	g.Kept = pointed(g.Kept)
	return g
}

func pointed[T any](p *T) *T {
	if p == nil {
		return nil
	}
	own := *p
	return &own
}

// Schema returns the schema of the synthetic records. If a person has several rows, the synthetic
// records are single rows.
func (g *Generator) Schema() records.Schema {
	if g.made() != nil {
		return records.Schema{}
	}
	return g.model.Schema().ByPerson(0)
}

// String describes the generator and its guarantee.
func (g *Generator) String() string {
	if g.made() != nil {
		return "generator: none"
	}
	return "generator: " + g.system + ", " + g.Schema().String()
}

// Clusters returns the number of components of a mixture, 1 for other generators.
func (g *Generator) Clusters() int {
	if m, ok := g.Model().(Mixture); ok {
		return m.Clusters()
	}
	return 1
}

// Weights returns the probabilities of the clusters, and {1} for generators without clusters.
func (g *Generator) Weights() []float64 {
	if m, ok := g.Model().(Mixture); ok {
		return m.Weights()
	}
	return []float64{1}
}

// Assign writes the cluster of each record of a batch to dst. It uses released centres only, so it
// can be called with any records.
func (g *Generator) Assign(b device.Batch, dst []int32) {
	if m, ok := g.Model().(Mixture); ok {
		m.Assign(b, dst)
		return
	}
	clear(dst)
}

// Sample generates n records. The caller chooses n, which does not depend on the private number of
// training records.
//
// Records of a table obey the constraints declared with its schema and the constraints that [Given]
// adds for this draw. Identifiers are newly generated.
//
// Errors: ctx.Err(); *param.Error for a negative n, an unknown cluster or class, or constraints
// that the records cannot have; *[Rejected] if too few records meet the constraints.
func (g *Generator) Sample(ctx context.Context, n int, opts ...DrawOption) (records.Data, error) {
	s, err := g.open(n, drawOf(ctx, opts))
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
// Errors: see Sample.
func (g *Generator) Stream(ctx context.Context, n int,
	opts ...DrawOption) iter.Seq2[records.Data, error] {
	d := drawOf(ctx, opts) // once, so that every iteration yields the same records
	return func(yield func(records.Data, error) bool) {
		s, err := g.open(n, d)
		if err != nil {
			yield(nil, err)
			return
		}
		s.chunks(ctx, n)(yield)
	}
}

// SampleChunk is the largest number of records requested from a [Sampler] at once. It bounds the
// memory of a draw of any size.
const SampleChunk = 1024
