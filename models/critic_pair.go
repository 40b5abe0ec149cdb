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
	*pass
	n      *critic
	ofPair int // number of parts of a record in PairGradients

	points device.Matrix // the input of the pass
	slope  device.Matrix // ∇D(x̂), then v₀
	// tangents are the tangents after each unit; bend uses the same memory for the penalty's
	// derivative with respect to the unit's output
	tangents []device.Matrix
	edge     device.Matrix // the first layer's delta at x̂, in consecutive rows
	scores   []float64
	slopes   []float32
	spread   []int32
}

func newPairs(n *critic) *pairs {
	p := &pairs{&pairsState{pass: newPass(n.be, n.g, n.weights).pass, n: n,
		tangents: make([]device.Matrix, len(n.g.nodes))}}
	p.ofPair = partBetween + 1
	if curves(n.g) {
		p.ofPair++
	}
	return p
}

const (
	partRecord = iota
	partFake
	partBetween // x̂; without a curved unit, this last part also holds the tangents
)

// resize makes room for the parts of a number of records.
func (p *pairs) resize(records, parts, biased int) {
	if records*parts > p.points.Rows {
		p.points = p.be.New(roomFor(records*parts), p.n.Dim())
		p.slope, p.edge = device.Matrix{}, device.Matrix{}
	}
	p.rows, p.parts, p.biased = records*parts, parts, biased
	p.losses = grow(p.losses, records)
	p.scores = grow(p.scores, p.rows)
	if records == 0 {
		p.run(record{}, 0)
		p.pass.backward()
	}
}

// roomForPenalty allocates the memory that only PairGradients needs.
func (p *pairs) roomForPenalty() {
	if p.slope.Rows >= p.records() {
		return
	}
	room := p.points.Rows / p.parts
	p.slope = p.be.New(room, p.n.Dim())
	p.edge = p.be.New(room, p.g.nodes[1].width)
	for _, n := range p.g.nodes[1 : len(p.g.nodes)-1] {
		p.tangents[n.id] = p.be.New(room, n.width)
	}
}

// dense returns b's records as a matrix in the backend's memory.
func (n *critic) dense(b device.Batch) device.Matrix { return n.tape.read(b).dense }

// PairGradients returns gradients with three parts, or four if a unit is curved.
func (n *critic) PairGradients(b device.Batch, fakes device.Matrix, mix []float32,
	lambda float64) BlockGradients {
	p := n.pair
	p.resize(b.Rows, p.ofPair, p.ofPair-1)
	if b.Rows == 0 {
		return p
	}
	p.roomForPenalty()
	x := p.points.RowRange(0, p.rows)
	real, fake, between := part(x, partRecord, p.parts), part(x, partFake, p.parts), p.between(x)
	p.be.Apply(device.Identity, real, n.dense(b))
	p.be.Apply(device.Identity, fake, fakes)
	p.be.Sub(between, real, fake)
	p.be.ScaleRows(between, mix[:b.Rows])
	p.be.Axpy(1, fake, between)
	if p.parts > partBetween+1 {
		p.be.Apply(device.Identity, p.carried(x), between)
	}
	n.run(p.pass, x, p.labels(b.Labels), func(i int, score float64) float64 {
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
	p.spread = grow(p.spread, p.rows)
	for i := range p.spread {
		p.spread[i] = of[i/p.parts]
	}
	return p.spread
}

// backward propagates deltas back to the first layer, and the deltas at x̂ back to the input.
func (p *pairs) backward() {
	p.pass.backward()
	first := p.g.nodes[1]
	edge, dx := p.edge.RowRange(0, p.records()), p.slope.RowRange(0, p.records())
	p.be.Apply(device.Identity, edge, p.carried(p.delta(first)))
	first.unit.(firstUnit).inputGradient(p.pass, first, edge, dx)
}

// penalise turns ∇D(x̂) into v₀.
func (p *pairs) penalise(lambda float64) {
	v, s := p.slope.RowRange(0, p.records()), &p.summing
	s.na, p.slopes = grow(s.na, v.Rows), grow(p.slopes, v.Rows)
	p.be.RowSquaredNorms(s.na, v)
	for i, square := range s.na {
		norm := math.Sqrt(square)
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
	v := p.slope.RowRange(0, p.records())
	for _, n := range p.g.nodes[1:] {
		at := p.carried(p.operand(n, 0))
		if n != p.g.last() {
			t := p.tangents[n.id].RowRange(0, p.records())
			n.unit.(criticUnit).tangent(p.pass, n, p.between(p.value(n)), v, t)
			p.be.Apply(device.Identity, at, v)
			v = t
			continue
		}
		p.be.Apply(device.Identity, at, v)
	}
}

// Losses sets dst to each record's loss.
func (p *pairs) Losses(dst []float64) { copy(dst, p.losses[:p.records()]) }
