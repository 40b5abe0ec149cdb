package privgen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// A Generator is what a run releases. It holds released state only: sampling it
// any number of times, saving it and giving it away reveal nothing beyond
// its Guarantee. It is safe for concurrent use.
type Generator struct{ model released }

// held is the model, or what stands for one where nobody has trained any.
func (g *Generator) held() released {
	if g == nil || g.model == nil {
		return nothing{}
	}
	return g.model
}

// released is what every system's model can do.
type released interface {
	Guarantee() accountant.Guarantee
	Schema() records.Schema
	DrawSchema(release.Draw) records.Schema
	Chunks(context.Context, int, release.Draw) iter.Seq2[records.Data, error]
	Encode() (*artefact.File, error)
}

// mixture is a released model made of clusters.
type mixture interface {
	Clusters() int
	Weights() []float64
	Assign(device.Batch, []int32)
}

// Guarantee says what is promised about the records the generator was trained
// on, every release that led to it, and what the promise does not cover.
func (g *Generator) Guarantee() accountant.Guarantee { return g.held().Guarantee() }

// Schema is the schema of the synthetic records.
func (g *Generator) Schema() records.Schema { return g.held().Schema() }

// Clusters is the number of components of a mixture, 1 for other generators.
func (g *Generator) Clusters() int {
	if m, ok := g.held().(mixture); ok {
		return m.Clusters()
	}
	return 1
}

// Weights are the probabilities of the clusters.
func (g *Generator) Weights() []float64 {
	if m, ok := g.held().(mixture); ok {
		return m.Weights()
	}
	return []float64{1}
}

// DrawOption says which synthetic records are wanted.
type DrawOption func(*release.Draw)

// FromCluster draws from one cluster only.
func FromCluster(i int) DrawOption { return func(d *release.Draw) { d.Cluster = i } }

// OfClass draws records of one class only, counted as in the schema's class names. Systems that do not model labels
// refuse it.
func OfClass(label int) DrawOption { return func(d *release.Draw) { d.Class = label } }

// Seed makes a draw repeatable. Synthetic records are post-processing, so any
// seed will do.
func Seed(s uint64) DrawOption { return func(d *release.Draw) { d.Seed = s } }

// Means asks for the probability of every coordinate of binary records, where
// the default is records that are 0 or 1.
func Means() DrawOption { return func(d *release.Draw) { d.Means = true } }

func draw(opts []DrawOption) release.Draw {
	d := release.All()
	for _, apply := range opts {
		if apply != nil {
			apply(&d)
		}
	}
	return d
}

// Sample generates n records. The caller chooses n; how many records were trained
// on is private and plays no part.
//
// Errors: ctx.Err(); *param.Error for a negative n or a cluster that does not exist.
func (g *Generator) Sample(ctx context.Context, n int, opts ...DrawOption) (records.Data, error) {
	d := draw(opts)
	var parts []records.Data
	for chunk, err := range g.held().Chunks(ctx, n, d) {
		if err != nil {
			return nil, err
		}
		parts = append(parts, chunk)
	}
	return records.Concat(g.held().DrawSchema(d), parts...)
}

// Stream generates n records in chunks, in memory that does not grow with n.
func (g *Generator) Stream(ctx context.Context, n int, opts ...DrawOption) iter.Seq2[records.Data, error] {
	return g.held().Chunks(ctx, n, draw(opts))
}

// Assign says which cluster each record of a batch would belong to. It uses
// released centres only, so it may be asked about any record.
func (g *Generator) Assign(b device.Batch, dst []int32) {
	if m, ok := g.held().(mixture); ok {
		m.Assign(b, dst)
		return
	}
	clear(dst)
}

// Save writes the generator in a self-describing form that Load reads in any
// process. Errors are the writer's.
func (g *Generator) Save(w io.Writer) error {
	f, err := g.held().Encode()
	if err != nil {
		return err
	}
	return artefact.Write(w, f)
}

// SaveFile saves to a file that appears whole or not at all: a full disk or a
// crash leaves whatever was there before.
func (g *Generator) SaveFile(path string) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".privgen-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	if err := g.saveTo(tmp); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func (g *Generator) saveTo(f *os.File) error {
	w := bufio.NewWriter(f)
	if err := g.Save(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// Errors of Load.
var (
	ErrFormat    = artefact.ErrFormat
	ErrVersion   = artefact.ErrVersion
	ErrTruncated = artefact.ErrTruncated
	ErrChecksum  = artefact.ErrChecksum
)

// LoadOption gives Load what a file cannot hold.
type LoadOption func(*release.Loading)

// LoadOn computes on the given backend.
func LoadOn(b device.Backend) LoadOption { return func(l *release.Loading) { l.Backend = b } }

// WithArchitecture lets Load rebuild networks of an architecture that is not this
// module's own: a is used where the file names a.Name().
func WithArchitecture(a models.DensityArchitecture) LoadOption {
	return func(l *release.Loading) { l.Architectures = append(l.Architectures, a) }
}

// WithDecoding is WithArchitecture for the generators of systems that train them on public codes.
func WithDecoding(a models.GeneratorArchitecture) LoadOption {
	return func(l *release.Loading) { l.Decodings = append(l.Decodings, a) }
}

// Load reads a generator that Save wrote.
//
// Errors: ErrFormat, ErrVersion, ErrTruncated, ErrChecksum. A hostile file
// gives an error; memory is bounded by a small multiple of the file's size.
func Load(r io.Reader, opts ...LoadOption) (*Generator, error) {
	var l release.Loading
	for _, apply := range opts {
		if apply != nil {
			apply(&l)
		}
	}
	f, err := artefact.Read(r)
	if err != nil {
		return nil, fmt.Errorf("privgen: %w", err)
	}
	m, err := decode(f, l)
	if err != nil {
		return nil, fmt.Errorf("privgen: %w", err)
	}
	return &Generator{m}, nil
}

// decode rebuilds the model of whichever system wrote the file.
func decode(f *artefact.File, l release.Loading) (released, error) {
	switch f.Kind {
	case gan.Kind:
		return gan.Decode(f, l)
	case dpgm.Kind:
		return dpgm.Decode(f, l)
	case mix.Kind:
		return mix.Decode(f, l)
	case merf.Kind:
		return merf.Decode(f, l)
	}
	return nil, fmt.Errorf("%w: written by an unknown system %.40q", ErrFormat, f.Kind)
}

// LoadFile reads a generator from a file.
func LoadFile(path string, opts ...LoadOption) (*Generator, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Load(bufio.NewReader(f), opts...)
}
