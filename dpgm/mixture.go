package dpgm

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
)

// A mixture is k networks that are trained as one network. All parameters are in one vector, and
// each record's gradient is in the block of its cluster's network.
//
// A record changes only one block, so its stacked gradient has the same norm as its gradient in
// that block. Clipping this norm bounds the record's effect on the whole stacked sum. The privacy
// cost of a step therefore does not depend on k.
type mixture struct {
	be      device.Backend
	parts   []models.Density
	params  device.Params
	nominal []float64       // public divisor of each part's gradient sum
	cluster func(int32) int // cluster of a row, from the record and released centres only
	spans   []span          // blocks of the stacked parameters, one span for each part

	order  []int32 // batch positions, sorted by cluster
	bounds []int   // cluster c holds order[bounds[c]:bounds[c+1]]
	next   []int   // position for the next record of each cluster
	sorted device.Batch
	grads  []models.Gradients
	norms  []float64
	weight []float32

	target device.Matrix   // destination of the last weighted sum
	blocks []device.Params // each part's view of target
	fixed  []device.Fixed  // each part's view of the last sum in fixed point
	form   *models.FixedForm
}

type span struct{ lo, hi int }

// newMixture stacks the parameters of parts. Parts that implement models.Binder use the stacked
// vector as their parameters; sync copies it to the other parts.
func newMixture(be device.Backend, parts []models.Density, nominal []float64,
	cluster func(int32) int) *mixture {
	m := &mixture{be: be, parts: parts, nominal: nominal, cluster: cluster,
		bounds: make([]int, len(parts)+1), next: make([]int, len(parts)),
		grads: make([]models.Gradients, len(parts))}
	each := make([]device.Params, len(parts))
	for i, p := range parts {
		each[i] = p.Params()
	}
	m.params = device.Concat(be, each...)
	lo := 0
	for i, p := range parts {
		hi := lo + each[i].Blocks()
		m.spans = append(m.spans, span{lo, hi})
		if b, ok := p.(models.Binder); ok {
			b.Bind(m.params.Sub(lo, hi))
		}
		lo = hi
	}
	return m
}

// Params returns the stacked vector.
func (m *mixture) Params() device.Params { return m.params }

// Segments returns the blocks of all clusters, each with its own public divisor.
func (m *mixture) Segments() []sgd.Segment {
	out := make([]sgd.Segment, len(m.spans))
	for i, s := range m.spans {
		out[i] = sgd.Segment{Params: m.params.Sub(s.lo, s.hi).Len(), NominalBatch: m.nominal[i]}
	}
	return out
}

// BeginStep copies the stacked parameters to networks that keep their own, and calls BeginStep of
// every network. It does so even for networks whose cluster has no sampled record.
func (m *mixture) BeginStep() {
	m.sync()
	for _, p := range m.parts {
		if s, ok := p.(models.Stepper); ok {
			s.BeginStep()
		}
	}
}

// sync copies the stacked parameters into networks that keep their own.
func (m *mixture) sync() {
	for i, p := range m.parts {
		if _, bound := p.(models.Binder); !bound {
			s := m.spans[i]
			m.be.Apply(device.Identity, p.Params().Flat, m.params.Sub(s.lo, s.hi).Flat)
		}
	}
}

// Gradients routes every record to its cluster's network.
func (m *mixture) Gradients(b device.Batch) models.Gradients {
	m.route(b)
	for c, p := range m.parts {
		m.grads[c] = nil
		if m.bounds[c] < m.bounds[c+1] {
			m.grads[c] = p.Gradients(m.sorted.Slice(m.bounds[c], m.bounds[c+1]))
		}
	}
	return (*mixtureGradients)(m)
}

// route sorts the batch by cluster with a counting sort, which is stable.
func (m *mixture) route(b device.Batch) {
	clear(m.bounds)
	for i := range b.Rows {
		m.bounds[m.cluster(b.Index[i])+1]++
	}
	for c := 1; c < len(m.bounds); c++ {
		m.bounds[c] += m.bounds[c-1]
	}
	m.order = grow(m.order, b.Rows)
	copy(m.next, m.bounds)
	for i := range b.Rows {
		c := m.cluster(b.Index[i])
		m.order[m.next[c]] = int32(i)
		m.next[c]++
	}
	m.permute(b)
}

// permute copies the batch to sorted in cluster order.
func (m *mixture) permute(b device.Batch) {
	s := &m.sorted
	s.Rows = b.Rows
	s.Index = permuted(s.Index, b.Index, m.order)
	s.Keys = permuted(s.Keys, b.Keys, m.order)
	s.Labels = permuted(s.Labels, b.Labels, m.order)
	if b.Sparse != nil {
		s.Dense = device.Matrix{}
		s.Sparse = permuteSparse(s.Sparse, b.Sparse, m.order)
		return
	}
	s.Sparse = nil
	// The copy is on the host, like the caller's batch; the parts copy it to the device.
	s.Dense = device.HostMatrix(b.Rows, b.Dim(), grow(s.Dense.Data, b.Rows*b.Dim()))
	for to, from := range m.order {
		copy(s.Dense.Row(to), b.Dense.Row(int(from)))
	}
}

func permuted[T any](dst, src []T, order []int32) []T {
	if src == nil {
		return nil
	}
	dst = grow(dst, len(order))
	for to, from := range order {
		dst[to] = src[from]
	}
	return dst
}

func permuteSparse(dst, src *device.Sparse, order []int32) *device.Sparse {
	if dst == nil {
		dst = &device.Sparse{}
	}
	dst.Cols = src.Cols
	dst.Offsets = append(dst.Offsets[:0], 0)
	dst.Items = dst.Items[:0]
	for _, from := range order {
		dst.Items = append(dst.Items, src.Items[src.Offsets[from]:src.Offsets[from+1]]...)
		dst.Offsets = append(dst.Offsets, len(dst.Items))
	}
	return dst
}

func grow[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// mixtureGradients is a mixture, seen as the gradients of its last batch.
type mixtureGradients mixture

// SquaredNorms writes the squared norms of all records to dst, in the order of the batch.
func (g *mixtureGradients) SquaredNorms(dst []float64) {
	g.norms = grow(g.norms, len(g.order))
	for c, part := range g.grads {
		if part != nil {
			part.SquaredNorms(g.norms[g.bounds[c]:g.bounds[c+1]])
		}
	}
	for at, i := range g.order {
		dst[i] = g.norms[at]
	}
}

// AddWeightedSum adds each part's sum to its own block of dst.
func (g *mixtureGradients) AddWeightedSum(dst device.Params, weights []float32) {
	g.weight = permuted(g.weight, weights, g.order)
	blocks := g.views(dst)
	for c, part := range g.grads {
		if part != nil {
			part.AddWeightedSum(blocks[c], g.weight[g.bounds[c]:g.bounds[c+1]])
		}
	}
}

// views returns the parts' blocks of dst. It keeps them for later calls, because a training loop
// uses the same dst in every step.
func (g *mixtureGradients) views(dst device.Params) []device.Params {
	if g.blocks == nil || !sameStorage(g.target, dst.Flat) {
		g.target, g.blocks = dst.Flat, g.blocks[:0]
		for _, s := range g.spans {
			g.blocks = append(g.blocks, dst.Sub(s.lo, s.hi))
		}
	}
	return g.blocks
}

func sameStorage(a, b device.Matrix) bool {
	if a.Cols != b.Cols || len(a.Data) != len(b.Data) {
		return false
	}
	if len(a.Data) > 0 {
		return &a.Data[0] == &b.Data[0]
	}
	return a.Mem != nil && a.Mem == b.Mem
}
