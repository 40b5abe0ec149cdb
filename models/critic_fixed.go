package models

import "github.com/seed7ba64551/privgen/device"

// criticReach is the FixedForm.Reach of critics: parts of a record's gradient that cancel may each
// be larger than the clip norm.
const criticReach = 8

// A fixedWeightedUnit is a weightedUnit with sums in fixed point. It takes one weight for each
// record.
type fixedWeightedUnit interface {
	fixedWeights(be device.FixedSummer, p *pairs, x, delta device.Matrix, weights []float32,
		dst device.FixedBlock)
	fixedBias(be device.FixedSummer, p *pairs, delta device.Matrix, weights []float32,
		dst device.FixedBlock)
}

// FixedForm has one term for each part.
func (p *pairs) FixedForm() FixedForm {
	for _, u := range p.n.chain.units {
		_, weighted := u.(weightedUnit)
		if _, ok := u.(fixedWeightedUnit); weighted && !ok {
			return FixedForm{}
		}
	}
	if p.parts == 1 {
		return fixedForm(p.be, oneTerm)
	}
	return fixedForm(p.be, FixedForm{Terms: p.parts, Reach: criticReach})
}

// AddFixedSum adds Σ wᵢ gᵢ to dst.
func (p *pairs) AddFixedSum(dst device.Fixed, weights []float32) {
	p.sums = p.sums[:0]
	for range p.n.params.Blocks() {
		p.sums = append(p.sums, weights)
	}
	p.AddFixedBlockSums(dst, p.sums)
}

// AddFixedBlockSums adds Σ weights[b][i]·gᵢ to block b of dst.
func (p *pairs) AddFixedBlockSums(dst device.Fixed, weights [][]float32) {
	be, ok := device.FixedSums(p.be)
	if !ok || p.rows == 0 {
		return
	}
	for l, u := range p.n.chain.units {
		u, ok := u.(fixedWeightedUnit)
		if !ok {
			continue
		}
		b := p.n.chain.blocks[l]
		x, delta := p.w.input(l), p.w.deltas[l]
		p.dropNonFinite(x, delta, weights[b], weights[b+1])
		u.fixedWeights(be, p, x, delta, weights[b], dst.Block(b))
		u.fixedBias(be, p, delta, weights[b+1], dst.Block(b+1))
	}
}

func (u *denseUnit) fixedWeights(be device.FixedSummer, p *pairs, x, delta device.Matrix,
	weights []float32, dst device.FixedBlock) {
	weights = p.repeat(p.within(x, delta, weights, p.parts, dst.Limit), p.parts)
	if u.width <= u.wide {
		be.AddFixedProduct(p.w.odd(be, x, weights), delta, dst)
		return
	}
	be.AddFixedProduct(x, p.w.odd(be, delta, weights), dst)
}

func (u *denseUnit) fixedBias(be device.FixedSummer, p *pairs, delta device.Matrix,
	weights []float32, dst device.FixedBlock) {
	weights = p.within(device.Matrix{}, delta, weights, p.biased, dst.Limit)
	be.AddFixedRows(p.repeat(weights, p.biased), delta, dst)
}

// within returns the weights, reduced where the first share parts of x and delta would otherwise
// exceed the limit. If x is the zero Matrix, only delta counts.
func (p *pairs) within(x, delta device.Matrix, weights []float32, share int,
	limit float64) []float32 {
	if p.parts == 1 {
		return weights
	}
	g, rows := &p.gram, p.rows*p.parts
	g.d = grow(g.d, rows)
	p.be.RowSquaredNorms(g.d, delta)
	if x.Rows > 0 {
		g.a = grow(g.a, rows)
		p.be.RowSquaredNorms(g.a, x)
		for k := range g.d {
			g.d[k] *= g.a[k]
		}
	}
	p.fewer = grow(p.fewer, p.rows)
	for i, w := range weights[:p.rows] {
		if p.fewer[i] = w; w != 0 {
			p.fewer[i] = within(w, p.size(g.d, i, share), limit)
		}
	}
	return p.fewer
}

// fixedWeights adds up all parts of a record's gradient before it rounds and adds the gradient.
func (u *convUnit) fixedWeights(be device.FixedSummer, p *pairs, x, delta device.Matrix,
	weights []float32, dst device.FixedBlock) {
	chunk := max(chunkRows(u.window)/p.parts, 1)
	for lo, hi := 0, 0; lo < p.rows; lo = hi {
		hi = min(lo+chunk, p.rows)
		images := x.RowRange(lo*p.parts, hi*p.parts)
		patches := p.w.patches(u.window, images.Rows)
		be.Im2Col(u.window, patches, images)
		be.AddFixedBlocks(weights[lo:hi], p.parts*u.window.Places(), patches,
			u.places(delta.RowRange(lo*p.parts, hi*p.parts)), dst)
	}
}

func (u *convUnit) fixedBias(be device.FixedSummer, p *pairs, delta device.Matrix,
	weights []float32, dst device.FixedBlock) {
	p.addFixedBias(be, u.window.Places(), u.places(delta), weights, dst)
}

// addFixedBias adds each record's sum of the rows of m over the parts that have a bias. Each part
// has the given number of places, which are its rows in m.
func (p *pairs) addFixedBias(be device.FixedSummer, places int, m device.Matrix, weights []float32,
	dst device.FixedBlock) {
	ones := p.ones(1, 1, places, p.biased)
	block := p.parts * places
	for i := range weights {
		be.AddFixedBlocks(weights[i:i+1], block, ones, m.RowRange(i*block, (i+1)*block), dst)
	}
}
