package models

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// pairs are the per-example gradients of a critic. The gradient of a record has a few parts, in
// consecutive rows. Each part is one outer product in each layer (in a convolution, one for each
// place).
//
// The parts of a Wasserstein critic are the record, its fake and the penalty. Let δ be the
// derivative of D(x̂) with respect to a layer's sums. Let g = ∇D(x̂) and v₀ = ∂λ(‖g‖−1)²/∂g =
// 2λ(‖g‖−1)g/‖g‖, or 0 at g = 0. The gradient of the penalty with respect to the parameters is the
// gradient of v₀·g with v₀ held fixed, and v₀·g is the derivative of D along v₀. This derivative is
// computed by propagating v₀ forward as a tangent: v ← Jv with the Jacobian J of each unit at x̂. A
// layer's weights W affect v₀·g in two ways.
//
// First, through the tangent: v₀·g is δ·(vW). Its gradient with respect to W is v⊗δ, with v in
// place of the layer's input, and its gradient with respect to the bias is 0. In piecewise linear
// layers, where J does not depend on x̂, this is the whole gradient.
//
// Second, through the forward pass of x̂, which determines the Jacobians. Let h be the layer's
// input at x̂, and u the derivative of v₀·g with respect to the layer's sums. This gradient is h⊗u
// for the weights and u for the bias. It is a fourth part, which exists if some unit is a
// curvedUnit. Two rows of a record then belong to x̂. One row keeps its inputs h, and its deltas
// become u. The other row keeps its deltas δ, and its inputs become v.
type pairs struct{ *pairsState }

type pairsState struct {
	n      *critic
	be     device.Backend
	w      *walk
	rows   int // records
	parts  int // rows of each record
	biased int // number of parts, counted from the first, that have a gradient with respect to biases
	ofPair int // number of parts of a record in PairGradients

	room int
	x    device.Matrix // the input of the walk
	dx   device.Matrix // ∇D(x̂), then v₀
	// tangents are the tangents after each unit; bend uses the same memory for the penalty's
	// derivative with respect to the unit's output
	tangents []device.Matrix
	edge     device.Matrix // the first layer's delta at x̂, in consecutive rows
	scores   []float64
	losses   []float64
	slopes   []float32
	gram     gram
	spread   []int32
	weights  []float32
	fewer    []float32
	list     [][]float64
	sums     [][]float32
}

func newPairs(n *critic) *pairs {
	p := &pairs{&pairsState{n: n, be: n.be, w: newWalk(n.chain, true),
		tangents: make([]device.Matrix, len(n.chain.units))}}
	p.ofPair = partBetween + 1
	if curves(n.chain) {
		p.ofPair++
	}
	return p
}

const (
	partRecord = iota
	partFake
	partBetween // x̂; without a curved unit, this last part also holds the tangents
)

// part returns rows k, k+parts, k+2·parts, … of m.
func part(m device.Matrix, k, parts int) device.Matrix {
	rows := m.Rows / parts
	if rows == 0 {
		return device.Matrix{Cols: m.Cols, Stride: m.Cols}
	}
	out := device.Matrix{Rows: rows, Cols: m.Cols, Stride: parts * m.Stride}
	if m.Mem != nil {
		out.Mem = m.Mem.Offset(k * m.Stride)
		return out
	}
	out.Data = m.Data[k*m.Stride:]
	return out
}

// resize makes room for the parts of a number of records.
func (p *pairs) resize(rows, parts, biased int) {
	p.rows, p.parts, p.biased = rows, parts, biased
	if rows*parts > p.room {
		p.room = roomFor(rows * parts)
		p.x = p.be.New(p.room, p.n.in)
		p.dx, p.edge = device.Matrix{}, device.Matrix{}
	}
	p.losses = grow(p.losses, rows)
	p.scores = grow(p.scores, rows*parts)
}

// roomForPenalty allocates the memory that only PairGradients needs.
func (p *pairs) roomForPenalty() {
	if p.dx.Rows >= p.rows {
		return
	}
	room := p.room / p.parts
	p.dx = p.be.New(room, p.n.in)
	p.edge = p.be.New(room, p.n.chain.units[0].out())
	for l, u := range p.n.chain.units[:len(p.n.chain.units)-1] {
		p.tangents[l] = p.be.New(room, u.out())
	}
}

// RecordGradients returns gradients with one part, the record.
func (n *critic) RecordGradients(b device.Batch, loss CriticLoss) BlockGradients {
	var x device.Matrix
	if b.Rows > 0 {
		x = n.dense(b)
	}
	return n.pair.alone(b.Rows, x, b.Labels, loss.OfRecord, nil)
}

// FakeGradients returns gradients with one part, the fake.
func (n *critic) FakeGradients(x device.Matrix, labels []int32, loss CriticLoss,
	scores []float64) BlockGradients {
	return n.pair.alone(x.Rows, x, labels, loss.OfFake, scores)
}

// alone computes gradients with one part. The function `of` returns the loss for a score and its
// derivative.
func (p *pairs) alone(rows int, x device.Matrix, labels []int32,
	of func(float64) (loss, slope float64), scores []float64) BlockGradients {
	p.resize(rows, 1, 1)
	if rows == 0 {
		return p
	}
	p.w.dx = device.Matrix{}
	p.n.run(p.w, x, labels, func(i int, score float64) float64 {
		var slope float64
		p.losses[i], slope = of(score)
		if scores != nil {
			scores[i] = score
		}
		return slope
	})
	p.w.backward()
	return p
}

// dense returns b's records as a matrix in the backend's memory.
func (n *critic) dense(b device.Batch) device.Matrix {
	r := n.stage.record(b)
	if r.sparse != nil {
		return n.stage.densify(r.sparse, b.Rows)
	}
	return r.dense
}

// PairGradients returns gradients with three parts, or four if a unit is curved.
func (n *critic) PairGradients(b device.Batch, fakes device.Matrix, mix []float32,
	lambda float64) BlockGradients {
	p := n.pair
	p.resize(b.Rows, p.ofPair, p.ofPair-1)
	if b.Rows == 0 {
		return p
	}
	p.roomForPenalty()
	x := p.x.RowRange(0, p.rows*p.parts)
	real, fake, between := part(x, partRecord, p.parts), part(x, partFake, p.parts), p.between(x)
	p.be.Apply(device.Identity, real, n.dense(b))
	p.be.Apply(device.Identity, fake, fakes)
	p.be.Sub(between, real, fake)
	p.be.ScaleRows(between, mix[:b.Rows])
	p.be.Axpy(1, fake, between)
	if p.parts > partBetween+1 {
		p.be.Apply(device.Identity, p.carried(x), between)
	}
	n.run(p.w, x, p.labels(b.Labels), func(i int, score float64) float64 {
		p.scores[i] = score
		if i%p.parts == partRecord {
			return -1
		}
		return 1
	})
	p.backward()
	p.penalise(lambda)
	p.carry()
	if p.parts > partBetween+1 {
		p.bend()
	}
	return p
}

// labels repeats each record's label for all of its parts.
func (p *pairs) labels(of []int32) []int32 {
	if of == nil {
		return nil
	}
	p.spread = grow(p.spread, p.rows*p.parts)
	for i := range p.spread {
		p.spread[i] = of[i/p.parts]
	}
	return p.spread
}

// backward propagates deltas back to the first layer, and the deltas at x̂ back to the input.
func (p *pairs) backward() {
	p.w.dx = device.Matrix{}
	p.w.backward()
	edge, dx := p.edge.RowRange(0, p.rows), p.dx.RowRange(0, p.rows)
	p.be.Apply(device.Identity, edge, p.carried(p.w.deltas[0]))
	p.n.chain.units[0].(firstUnit).inputGradient(p.w, edge, dx)
}

// penalise turns ∇D(x̂) into v₀.
func (p *pairs) penalise(lambda float64) {
	v := p.dx.RowRange(0, p.rows)
	norms := p.w.na[:p.rows]
	p.be.RowSquaredNorms(norms, v)
	p.slopes = grow(p.slopes, p.rows)
	for i, s := range norms {
		norm := math.Sqrt(s)
		p.slopes[i] = 0
		if norm != 0 {
			p.slopes[i] = float32(2 * lambda * (norm - 1) / norm)
		}
		at := i * p.parts
		p.losses[i] = p.scores[at+partFake] - p.scores[at+partRecord] + lambda*(norm-1)*(norm-1)
	}
	p.be.ScaleRows(v, p.slopes)
}

// carry propagates v₀ forward and replaces the inputs of the tangents' part with it.
func (p *pairs) carry() {
	v, last := p.dx.RowRange(0, p.rows), len(p.n.chain.units)-1
	for l, u := range p.n.chain.units {
		at := p.carried(p.w.input(l))
		if l < last {
			t := p.tangents[l].RowRange(0, p.rows)
			u.(criticUnit).tangent(p, l, v, t)
			p.be.Apply(device.Identity, at, v)
			v = t
			continue
		}
		p.be.Apply(device.Identity, at, v)
	}
}

// Losses sets dst to each record's loss.
func (p *pairs) Losses(dst []float64) { copy(dst, p.losses[:p.rows]) }

// SquaredNorms sets dst to ‖gᵢ‖² or a slightly larger number.
func (p *pairs) SquaredNorms(dst []float64) {
	clear(dst[:p.rows])
	if p.rows == 0 {
		return
	}
	each := p.each()
	p.BlockSquaredNorms(each)
	for _, block := range each {
		addTo(dst, block[:p.rows])
	}
}

// each returns scratch memory with one number for each block and record.
func (p *pairs) each() [][]float64 {
	for len(p.list) < p.n.params.Blocks() {
		p.list = append(p.list, nil)
	}
	for b := range p.list {
		p.list[b] = grow(p.list[b], p.rows)
	}
	return p.list
}

// BlockSquaredNorms sets dst[b][i] to the squared norm of block b's part of gᵢ, or a slightly
// larger number.
func (p *pairs) BlockSquaredNorms(dst [][]float64) {
	if p.rows == 0 {
		return
	}
	for l, u := range p.n.chain.units {
		if u, ok := u.(weightedUnit); ok {
			b := p.n.chain.blocks[l]
			u.blockNorms(p, p.w.input(l), p.w.deltas[l], dst[b][:p.rows], dst[b+1][:p.rows])
		}
	}
}

// AddWeightedSum adds Σ wᵢ gᵢ to dst.
func (p *pairs) AddWeightedSum(dst device.Params, weights []float32) {
	p.sums = p.sums[:0]
	for range p.n.params.Blocks() {
		p.sums = append(p.sums, weights)
	}
	p.AddBlockSums(dst, p.sums)
}

// AddBlockSums adds Σ weights[b][i]·gᵢ to block b of dst.
func (p *pairs) AddBlockSums(dst device.Params, weights [][]float32) {
	if p.rows == 0 {
		return
	}
	for l, u := range p.n.chain.units {
		u, ok := u.(weightedUnit)
		if !ok {
			continue
		}
		b := p.n.chain.blocks[l]
		x, delta := p.w.input(l), p.w.deltas[l]
		p.dropNonFinite(x, delta, weights[b], weights[b+1])
		u.weightSum(p, x, delta, p.repeat(weights[b], p.parts), dst.Block(b))
		u.biasSum(p, delta, p.repeat(weights[b+1], p.biased), dst.Block(b+1))
	}
}

// repeat returns a weight for every part: the record's weight for its first share parts, and zero
// for the other parts.
func (p *pairs) repeat(weights []float32, share int) []float32 {
	p.weights = grow(p.weights, p.rows*p.parts)
	for i := range p.weights {
		p.weights[i] = 0
		if i%p.parts < share {
			p.weights[i] = weights[i/p.parts]
		}
	}
	return p.weights
}

// dropNonFinite clears rows of factors that are not finite and belong to records of weight zero,
// because 0·NaN is not 0.
func (p *pairs) dropNonFinite(x, delta device.Matrix, weight, bias []float32) {
	for i := range p.rows {
		if weight[i] != 0 && bias[i] != 0 {
			continue
		}
		for k := i * p.parts; k < (i+1)*p.parts; k++ {
			if weight[i] == 0 {
				clearNonFinite(p.be, x.RowRange(k, k+1), p.w.na[:1])
			}
			clearNonFinite(p.be, delta.RowRange(k, k+1), p.w.na[:1])
		}
	}
}
