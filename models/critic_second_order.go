package models

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// A curvedUnit has a Jacobian that depends on its input. The derivative of the gradient penalty
// then has, in addition to the tangents, a contribution through the input of every earlier layer.
type curvedUnit interface {
	criticUnit
	// bend sets dx to the penalty's derivative with respect to the input at x̂. v is the derivative
	// with respect to the output, and bend may overwrite it. The result is the sum of two terms: v
	// propagated by backward, and the derivative of δᵀJ(x)·tangent with respect to x.
	bend(p *pairs, l int, v, dx device.Matrix)
}

// curves reports whether a chain has a curvedUnit.
func curves(c *chain) bool {
	for _, u := range c.units {
		if _, ok := u.(curvedUnit); ok {
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
	last := len(p.n.chain.units) - 1
	p.be.Fill(p.between(p.w.deltas[last]), 0)
	if last == 0 {
		return
	}
	v := p.tangents[last-1].RowRange(0, p.rows)
	p.be.Fill(v, 0)
	for l := last - 1; l >= 0; l-- {
		var dx device.Matrix
		if l > 0 {
			dx = p.tangents[l-1].RowRange(0, p.rows)
		}
		u := p.n.chain.units[l]
		if c, ok := u.(curvedUnit); ok {
			c.bend(p, l, v, dx)
		} else {
			u.backward(p.w, l, p.between(p.w.input(l)), p.between(p.w.outs[l]), v, dx)
		}
		if _, ok := u.(weightedUnit); ok {
			p.be.Apply(device.Identity, p.between(p.w.deltas[l]), v)
		}
		v = dx
	}
}

// between returns the rows of m at x̂. carried returns the rows of the tangents' part.
func (p *pairs) between(m device.Matrix) device.Matrix { return part(m, partBetween, p.parts) }
func (p *pairs) carried(m device.Matrix) device.Matrix { return part(m, p.parts-1, p.parts) }

// parameterless implements the methods of a unit that concern parameters, for units without any.
type parameterless struct{}

func (parameterless) shapes(string) []device.Shape   { return nil }
func (parameterless) bind([]device.Matrix)           {}
func (parameterless) initialise(*rand.Rand, float64) {}

func (parameterless) addNorms(*walk, device.Matrix, device.Matrix, []float64) {}

func (parameterless) addSum(*walk, int, device.Matrix, device.Matrix, []float32, []device.Matrix) {}

// funcUnit is y = f(x) for a smooth f. It is a separate unit because the term with f″ needs the
// tangent before its multiplication by f′.
type funcUnit struct {
	parameterless
	be    device.Backend
	width int
	f     device.Func
}

func (u *funcUnit) in() int  { return u.width }
func (u *funcUnit) out() int { return u.width }

func (u *funcUnit) forward(_ *walk, _ int, x, y device.Matrix) { u.be.Apply(u.f, y, x) }

func (u *funcUnit) backward(_ *walk, _ int, _, y, delta, dx device.Matrix) {
	if dx.Rows > 0 {
		u.be.Apply(device.Identity, dx, delta)
		u.be.Gradient(u.f, dx, y)
	}
}

func (u *funcUnit) tangent(p *pairs, l int, v, t device.Matrix) {
	u.backward(p.w, l, v, p.between(p.w.outs[l]), v, t)
}

// bend adds f″∘δ∘tangent: tanh″ = −2·tanh·tanh′, σ″ = (1−2σ)σ′, softplus″ = softplus′ − softplus′².
func (u *funcUnit) bend(p *pairs, l int, v, dx device.Matrix) {
	w := p.w
	y := p.between(w.outs[l])
	u.backward(w, l, v, y, v, dx)
	s := w.spare(p.rows, u.width)
	u.be.Mul(s, p.carried(w.deltas[l]), p.carried(w.input(l)))
	u.be.Gradient(u.f, s, y)
	switch u.f {
	case device.Tanh:
		u.be.Mul(s, s, y)
		u.be.Axpy(-2, s, dx)
	case device.Sigmoid:
		u.be.Axpy(1, s, dx)
		u.be.Mul(s, s, y)
		u.be.Axpy(-2, s, dx)
	case device.Softplus:
		u.be.Axpy(1, s, dx)
		u.be.Gradient(u.f, s, y)
		u.be.Axpy(-1, s, dx)
	}
}
