package gan

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// criticNetwork is the critic in the form that package sgd trains. The generator does not change
// during a critic step.
//
// Guarantee: a record's gradient is a function of the record, its label, its key and released
// parameters. The record's fake is computed from its key in the generator's inference mode, which
// does not mix codes.
type criticNetwork struct {
	config Config
	be     device.Backend
	critic models.Critic
	fakes  *network.Maker
	unit   unit
	mix    []float32
}

// Dim returns the number of coordinates of a record.
func (n *criticNetwork) Dim() int { return n.critic.Dim() }

// Params returns the critic's parameters.
func (n *criticNetwork) Params() device.Params { return n.critic.Params() }

// Gradients returns the gradients of the critic's loss on records.
func (n *criticNetwork) Gradients(b device.Batch) models.Gradients { return n.gradients(b) }

func (n *criticNetwork) gradients(b device.Batch) models.BlockGradients {
	b = n.unit.shrunk(b)
	if n.config.classes() == 0 {
		b.Labels = nil
	}
	if b.Rows == 0 {
		return n.critic.PairGradients(b, device.Matrix{}, nil, n.config.Penalty)
	}
	n.mix = n.mix[:0]
	for _, key := range b.Keys {
		n.mix = append(n.mix, models.KeyedShare(key))
	}
	return n.critic.PairGradients(b, n.keyed(b.Keys, b.Labels), n.mix, n.config.Penalty)
}

// keyed generates one fake for each record, from the record's key and label only.
func (n *criticNetwork) keyed(keys []uint64, labels []int32) device.Matrix {
	return n.fakes.Generate(n.fakes.Fill(len(keys), labels, func(i int, code []float32) {
		models.KeyedCode(code, keys[i])
	}))
}

// groupedNetwork is a critic with clip groups.
type groupedNetwork struct {
	*criticNetwork
	public *publicRecords
	last   []sgd.Group
}

// ClipGroups returns groups with norms computed from the gradients of public records.
func (n *groupedNetwork) ClipGroups() []sgd.Group {
	if n.last == nil || !n.config.Clipping.Kept {
		n.last = n.config.Clipping.groups(n.critic, n.public.norms(n.criticNetwork))
	}
	return n.last
}

// publicRecords draws batches of public records.
type publicRecords struct {
	data   records.Data
	rng    *rand.Rand
	size   int
	scale  float64
	batch  device.Batch
	index  []int32
	keys   []uint64
	square [][]float64
}

// draw returns a batch of public records, drawn with replacement.
func (p *publicRecords) draw() device.Batch {
	p.index, p.keys = p.index[:0], p.keys[:0]
	for range p.size {
		p.index = append(p.index, int32(p.rng.IntN(p.data.Len())))
		p.keys = append(p.keys, p.rng.Uint64())
	}
	p.data.Gather(p.index, &p.batch)
	p.batch.Keys = p.keys
	return p.batch
}

// norms returns, for each block, the mean gradient norm over a batch, after floored.
func (p *publicRecords) norms(n *criticNetwork) []float64 {
	blocks := n.Params().Blocks()
	for len(p.square) < blocks {
		p.square = append(p.square, make([]float64, p.size))
	}
	n.gradients(p.draw()).BlockSquaredNorms(p.square)
	means := make([]float64, blocks)
	for b := range means {
		for _, s := range p.square[b] {
			means[b] += math.Sqrt(s) / float64(p.size)
		}
	}
	return floored(means, p.scale)
}
