package dpgm

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

// A Model is what a run releases: centres, noisy cluster sizes and trained
// networks. It holds nothing else, and everything done with it is free.
// It is safe for concurrent use.
type Model struct {
	schema  records.Schema // of the private records
	arch    models.DensityArchitecture
	backend device.Backend
	router  *router
	nets    []models.Density
	tilts   []tilt // of each network; nil without Marginals
}

// Schema is the schema of the synthetic records: that of the real ones without their labels.
func (m *Model) Schema() records.Schema { return m.known().schema.WithoutLabels() }

// known is the model, or the zero value in the place of nil.
func (m *Model) known() *Model {
	if m == nil {
		return &Model{}
	}
	return m
}

// Clusters is the number of networks.
func (m *Model) Clusters() int { return len(m.known().nets) }

// Weights are the probabilities with which clusters are sampled, from their
// released noisy sizes.
func (m *Model) Weights() []float64 {
	if m.known().router == nil {
		return nil
	}
	return m.router.weights()
}

// Assign says which cluster a record would belong to: records of any origin, since
// only released centres are used.
func (m *Model) Assign(b device.Batch, dst []int32) {
	if m.known().router == nil {
		clear(dst)
		return
	}
	m.router.assign(m.backend, b, dst)
}

// errNoModel is the refusal of the zero value.
func errNoModel() error {
	return param.New("dpgm.Model", nil, "a model that a run has released, or of a file")
}

// Sampler opens a draw. Means asks for the mean of binary coordinates, and in tables for the most
// probable level of each column instead of a drawn one.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	if m.known().router == nil {
		return synth.Sampler{}, errNoModel()
	}
	schema := m.Schema()
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
	which  []int
	rows   []int
	mean   device.Matrix
	flat   []float32
	blocks []rff.Block // of a table
}

func (m *Model) sampler(d synth.Draw, schema records.Schema) *sampler {
	s := &sampler{model: m, draw: d, schema: schema, rng: rand.New(rand.NewPCG(d.Seed, 0x6470676d)),
		blocks: network.TableBlocks(m.Schema())}
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
	dim := s.schema.Dim()
	s.which = s.which[:0]
	for range n {
		s.which = append(s.which, s.pick())
	}
	s.flat = make([]float32, n*dim) // the chunk that is handed out keeps it
	if s.mean.Rows < n {
		s.mean = s.model.backend.New(n, dim)
	}
	for c, net := range s.model.nets {
		s.fill(c, net, dim)
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
func (s *sampler) fill(c int, net models.Density, dim int) {
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
	net.Sample(s.rng, mean)
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
	schema := s.schema
	switch {
	case schema.Kind() == records.MixedTable:
		if !s.draw.Means {
			network.Rows(s.rng, s.blocks, s.flat)
		}
		return records.DecodeFlat(schema, s.flat)
	case schema.Sparse():
		return s.sets(schema, n)
	case schema.IsBinary():
		network.Bernoulli(s.rng, s.flat)
	default:
		schema.Clamp(s.flat)
	}
	return records.FromFlat(schema, s.flat)
}

// sets draws every item from its mean. Of more than the schema allows those are left that reading
// such a set leaves.
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

// appendItems draws one set. Sixteen bits of a uniform number nearly always decide, so a word
// serves four items; where they do not, more are drawn.
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
