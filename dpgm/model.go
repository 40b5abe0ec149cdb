package dpgm

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Model is the released result of a run. It holds only centres, noisy cluster sizes, trained
// networks and, with Marginals, the released marginals and the distribution of shifts. Using it
// costs no privacy. It is safe for concurrent use.
type Model struct {
	schema  records.Schema // of the private records
	arch    models.DensityArchitecture
	backend device.Backend
	router  *router
	nets    []models.Density
	tilts   []tilt    // one for each network; nil without Marginals
	targets []*target // one for each network; nil without Marginals
}

// Schema returns the schema of the synthetic records, which is the schema of the real records
// without labels.
func (m *Model) Schema() records.Schema { return m.known().schema.WithoutLabels() }

// known returns m, or the zero value if m is nil.
func (m *Model) known() *Model {
	if m == nil {
		return &Model{}
	}
	return m
}

// Clusters returns the number of networks.
func (m *Model) Clusters() int { return len(m.known().nets) }

// Weights returns the probabilities with which a draw chooses clusters. They are computed from the
// released noisy sizes.
func (m *Model) Weights() []float64 {
	if m.known().router == nil {
		return nil
	}
	return m.router.weights()
}

// Assign writes the cluster of each record of a batch to dst. It uses released centres only. The
// clusters of private records are private.
func (m *Model) Assign(b device.Batch, dst []int32) {
	if m.known().router == nil {
		clear(dst)
		return
	}
	m.router.assign(m.backend, b, dst)
}

// errNoModel is the error for the zero value.
func errNoModel() error {
	return param.New("dpgm.Model", nil, "a model returned by a run or loaded from a file")
}

// Sampler starts a draw. With Draw.Means it returns the mean of each binary coordinate and, in
// tables, the most probable level of each column.
//
// Errors: *param.Error for the zero value.
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

// A sampler holds the state and the scratch memory of one draw.
type sampler struct {
	model  *Model
	draw   synth.Draw
	schema records.Schema // of the draw
	rng    *rand.Rand
	choice network.Choice // of the clusters
	which  []int
	rows   []int
	mean   device.Matrix
	flat   []float32
	steer  []*steering // of each network; nil without targets
}

func (m *Model) sampler(d synth.Draw, schema records.Schema) *sampler {
	s := &sampler{model: m, draw: d, schema: schema,
		rng: rand.New(rand.NewPCG(d.Seed, 0x6470676d)), choice: network.NewChoice(m.Weights())}
	if !d.Means {
		for _, t := range m.targets {
			s.steer = append(s.steer, t.start())
		}
	}
	return s
}

// next generates one chunk. It draws a cluster for each record. Then every network generates all
// records of its cluster at once.
func (s *sampler) next(n int) (records.Data, error) {
	dim := s.schema.Dim()
	s.which = s.which[:0]
	for range n {
		s.which = append(s.which, s.choice.Pick(s.rng, s.draw.Cluster))
	}
	s.flat = make([]float32, n*dim) // the returned chunk keeps it
	if s.mean.Rows < n {
		s.mean = s.model.backend.New(n, dim)
	}
	for c, net := range s.model.nets {
		s.fill(c, net, dim)
	}
	if s.schema.Kind() == records.IntervalVector { // not probabilities
		s.schema.Clamp(s.flat)
		return records.FromFlat(s.schema, s.flat)
	}
	return network.Records(s.rng, s.schema, s.draw.Means, s.flat, nil)
}

// slow is a Boltzmann machine, which may take a minute for a chunk.
type slow interface {
	SampleUntil(*rand.Rand, device.Matrix, func() error)
}

// fill generates the records of one network and puts them at their positions in the chunk.
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
	if long, ok := net.(slow); ok {
		long.SampleUntil(s.rng, mean, s.draw.Err)
	} else {
		net.Sample(s.rng, mean)
	}
	for k, i := range s.rows {
		row := s.flat[i*dim : (i+1)*dim]
		s.model.backend.Download(row, mean.RowRange(k, k+1))
		if s.steer != nil {
			s.steer[c].draw(s.rng, row, s.model.tilts[c].pick(s.rng))
		} else if s.model.tilts != nil {
			s.model.tilts[c].apply(s.rng, row)
		}
	}
}

// Layers returns the layers of one cluster's network for use in other programs; see connect/onnx.
// The input is a draw of the latent variables, and the output is the mean of a record; see
// [models.Layered]. The other program must draw the cluster by Weights, draw the latent variables,
// and draw the record from its mean. If the configuration has Marginals, it must also add the
// random shift to all logits of a record. Draws of this package are also steered towards the
// released frequencies and sizes.
//
// Errors: *param.Error for the zero value, for an unknown cluster, and for a network that is not
// [models.Layered], such as a restricted Boltzmann machine.
func (m *Model) Layers(cluster int) ([]models.Layer, error) {
	if m.known().router == nil {
		return nil, errNoModel()
	}
	if cluster < 0 || cluster >= len(m.nets) {
		return nil, param.New("dpgm.Model.Layers.cluster", cluster,
			fmt.Sprintf("an integer from 0 to %d", len(m.nets)-1))
	}
	return models.LayersOf(m.nets[cluster])
}
