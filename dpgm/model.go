package dpgm

import (
	"context"
	"errors"
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

// A Model is what a run releases: centres, noisy cluster sizes and trained
// networks. It holds nothing else, and everything done with it is free.
// It is safe for concurrent use.
type Model struct {
	config    Config
	backend   device.Backend
	router    *router
	parts     []models.Density
	tilts     []tilt // of each part; nil without Marginals
	guarantee accountant.Guarantee
}

func (r *run) model() *Model {
	return &Model{config: r.config, backend: r.backend, router: r.router, parts: r.parts, tilts: r.tilts, guarantee: r.ledger.Guarantee()}
}

// Guarantee says what was promised, to whom, and what it does not cover.
func (m *Model) Guarantee() accountant.Guarantee { return m.guarantee }

// Schema is the schema of the synthetic records.
func (m *Model) Schema() records.Schema { return m.config.Schema.WithoutLabels() }

// Clusters is the number of networks.
func (m *Model) Clusters() int { return len(m.parts) }

// Weights are the probabilities with which clusters are sampled, from their
// released noisy sizes.
func (m *Model) Weights() []float64 { return m.router.weights() }

// Assign says which cluster a record would belong to: records of any origin, since
// only released centres are used.
func (m *Model) Assign(b device.Batch, dst []int32) { m.router.assign(m.backend, b, dst) }

// Draw says which synthetic records are wanted.
type Draw = release.Draw

// All draws from every cluster, from a fresh seed.
func All() Draw { return release.All() }

// DrawSchema is the schema of the records of a draw: means of binary records
// are not binary.
func (m *Model) DrawSchema(d Draw) records.Schema {
	if s := m.Schema(); d.Means && s.IsBinary() {
		return system.MeansOf(s)
	}
	return m.Schema()
}

// Chunks generates n records in pieces of bounded size. The caller chooses n: how
// many records were trained on is private and plays no part.
//
// Errors: ctx.Err(); a cluster that does not exist.
func (m *Model) Chunks(ctx context.Context, n int, d Draw) iter.Seq2[records.Data, error] {
	return system.Chunks(ctx, n, func() (func(n int) (records.Data, error), error) {
		if err := m.check(n, d); err != nil {
			return nil, err
		}
		return m.sampler(d).next, nil
	})
}

func (m *Model) check(n int, d Draw) error {
	var errs []error
	if n < 0 {
		errs = append(errs, &param.Error{Path: "n", Value: n, Want: "the number of records, zero or more"})
	}
	if d.Class != -1 {
		errs = append(errs, &param.Error{Path: "dpgm.Draw.Class", Value: d.Class, Want: "no class: labels are not modelled"})
	}
	if d.Cluster < -1 || d.Cluster >= len(m.parts) {
		errs = append(errs, &param.Error{Path: "dpgm.Draw.Cluster", Value: d.Cluster, Want: fmt.Sprintf("a cluster in [0, %d), or -1 for all", len(m.parts))})
	}
	return errors.Join(errs...)
}

// sampler holds one caller's scratch.
type sampler struct {
	model *Model
	draw  Draw
	rng   *rand.Rand
	cum   []float64
	which []int
	rows  []int
	mean  device.Matrix
	flat  []float32
}

func (m *Model) sampler(d Draw) *sampler {
	s := &sampler{model: m, draw: d, rng: rand.New(rand.NewPCG(d.Seed, 0x6470676d))}
	total := 0.0
	for _, w := range m.Weights() {
		total += w
		s.cum = append(s.cum, total)
	}
	return s
}

// next generates one chunk: clusters are drawn record by record, then every
// network fills its records at once.
func (s *sampler) next(n int) (records.Data, error) {
	dim := s.model.config.Schema.Dim()
	s.which = s.which[:0]
	for range n {
		s.which = append(s.which, s.pick())
	}
	s.flat = make([]float32, n*dim) // the chunk that is handed out keeps it
	if s.mean.Rows < n {
		s.mean = s.model.backend.New(n, dim)
	}
	for c, part := range s.model.parts {
		s.fill(c, part, dim)
	}
	return s.decode(n)
}

// pick draws a cluster.
func (s *sampler) pick() int {
	if s.draw.Cluster >= 0 {
		return s.draw.Cluster
	}
	u := s.rng.Float64() * s.cum[len(s.cum)-1]
	for c, top := range s.cum {
		if u < top {
			return c
		}
	}
	return len(s.cum) - 1
}

// fill puts one network's records where they were drawn.
func (s *sampler) fill(c int, part models.Density, dim int) {
	s.rows = s.rows[:0]
	for i, w := range s.which {
		if w == c {
			s.rows = append(s.rows, i)
		}
	}
	if len(s.rows) == 0 {
		return
	}
	mean := s.mean.RowRange(0, len(s.rows))
	part.Sample(s.rng, mean)
	for k, i := range s.rows {
		row := s.flat[i*dim : (i+1)*dim]
		s.model.backend.Download(row, mean.RowRange(k, k+1))
		if s.model.tilts != nil {
			s.model.tilts[c].apply(s.rng, row)
		}
	}
}

// decode turns means into records of the draw's schema.
func (s *sampler) decode(n int) (records.Data, error) {
	schema := s.model.DrawSchema(s.draw)
	switch {
	case schema.Sparse():
		return s.sets(schema, n)
	case schema.IsBinary():
		system.Bernoulli(s.rng, s.flat)
	default:
		schema.Clamp(s.flat)
	}
	return records.FromFlat(schema, s.flat)
}

// sets draws every item from its mean. Of more than the schema allows those are left that reading such a set leaves.
func (s *sampler) sets(schema records.Schema, n int) (records.Data, error) {
	offsets, items := []int{0}, []uint32(nil)
	dim := schema.Dim()
	for i := range n {
		first := len(items)
		items = s.appendItems(items, s.flat[i*dim:(i+1)*dim])
		items = items[:first+len(records.CutSet(items[first:], schema.MaxItems()))]
		offsets = append(offsets, len(items))
	}
	return records.FromCSR(schema, offsets, items)
}

// appendItems draws one set. Sixteen bits of a uniform number nearly always decide, so a word serves four items; where
// they do not, more are drawn.
func (s *sampler) appendItems(items []uint32, p []float32) []uint32 {
	var word uint64
	for j, v := range p {
		if j%4 == 0 {
			word = s.rng.Uint64()
		}
		lane := float32(word & 0xffff)
		word >>= 16
		if t := v * 0x1p16; lane+1 <= t || lane < t && s.rng.Float32() < t-lane {
			items = append(items, uint32(j))
		}
	}
	return items
}
