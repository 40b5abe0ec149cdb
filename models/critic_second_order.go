package models

import "github.com/seed7ba64551/privgen/device"

// A criticUnit is a unit through which a gradient penalty can be propagated.
type criticUnit interface {
	unit
	// tangent sets v to the unit's Jacobian at the value y times x.
	tangent(t *pass, n *node, y, x, v device.Matrix)
}

// A firstUnit can be the first unit of a critic.
type firstUnit interface {
	// inputGradient sets dx to the derivative with respect to the operand, given delta, the derivative
	// before the unit's function.
	inputGradient(t *pass, n *node, delta, dx device.Matrix)
}

// A backUnit is a unit with parameters whose Jacobian does not depend on its input, except for a
// piecewise linear function.
type backUnit interface {
	criticUnit
	// back turns delta into the derivative before the function, and sets dx, unless it is the zero
	// Matrix, to the derivative with respect to the operand.
	back(t *pass, n *node, y, delta, dx device.Matrix, add bool)
}

// curves reports whether the Jacobian of a unit of the graph depends on its input. The derivative
// of the gradient penalty then has, in addition to the tangents, a contribution through the input
// of every earlier layer.
func curves(g *graph) bool {
	for _, n := range g.nodes {
		if _, ok := n.unit.(*funcUnit); ok {
			return true
		}
	}
	return false
}

// bend propagates the penalty's derivative with respect to the outputs of units back from the last
// unit, where it is zero. It replaces the deltas at x̂ with this derivative; the tangents' part
// keeps the original deltas. carry has already copied the tangents to that part, so bend reuses
// their memory.
func (p *pairs) bend() {
	last := p.g.last()
	p.be.Fill(p.between(p.delta(last)), 0)
	if last.id == 1 {
		return
	}
	v := p.tangents[last.id-1].RowRange(0, p.records())
	p.be.Fill(v, 0)
	for id := last.id - 1; id > 0; id-- {
		var dx device.Matrix
		if id > 1 {
			dx = p.tangents[id-1].RowRange(0, p.records())
		}
		n := p.g.nodes[id]
		switch u := n.unit.(type) {
		case *funcUnit:
			u.bend(p, n, v, dx)
		case backUnit:
			u.back(p.pass, n, p.between(p.value(n)), v, dx, false)
			p.be.Apply(device.Identity, p.between(p.delta(n)), v)
		}
		v = dx
	}
}

// between returns the rows of m at x̂. carried returns the rows of the tangents' part.
func (p *pairs) between(m device.Matrix) device.Matrix { return part(m, partBetween, p.parts) }
func (p *pairs) carried(m device.Matrix) device.Matrix { return part(m, p.parts-1, p.parts) }

// bend sets dx to the penalty's derivative with respect to the operand at x̂, where v is the
// derivative with respect to the value. It adds f″∘δ∘tangent to v∘f′: tanh″ = −2·tanh·tanh′, σ″ =
// (1−2σ)σ′, softplus″ = softplus′ − softplus′².
func (u *funcUnit) bend(p *pairs, n *node, v, dx device.Matrix) {
	y := p.between(p.value(n))
	u.tangent(p.pass, n, y, v, dx)
	s := p.spare(p.records(), u.width)
	p.be.Mul(s, p.carried(p.delta(n)), p.carried(p.operand(n, 0)))
	p.be.Gradient(u.f, s, y)
	switch u.f {
	case device.Tanh:
		p.be.Mul(s, s, y)
		p.be.Axpy(-2, s, dx)
	case device.Sigmoid:
		p.be.Axpy(1, s, dx)
		p.be.Mul(s, s, y)
		p.be.Axpy(-2, s, dx)
	case device.Softplus:
		p.be.Axpy(1, s, dx)
		p.be.Gradient(u.f, s, y)
		p.be.Axpy(-1, s, dx)
	}
}
