package pld

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// Discrete has finitely many losses, in increasing order.
type Discrete struct {
	loss, mass []float64 // mass of P
	inf        float64   // P where Q is zero
	never      float64   // Q where P is zero
}

// NewDiscrete has P-mass mass[i] at loss[i], in increasing order, mass inf of P where Q is zero and mass never of Q where
// P is zero.
func NewDiscrete(loss, mass []float64, inf, never float64) *Discrete {
	return &Discrete{loss, mass, inf, never}
}

func (p *Discrete) plan(float64) []float64 {
	width := max(p.loss[len(p.loss)-1]-p.loss[0], math.Abs(p.loss[0]), 1e-9)
	nodes := []float64{p.loss[0] - 1e-6*width}
	stride := len(p.loss)/400 + 1
	for i := 0; i < len(p.loss); i += stride {
		nodes = append(nodes, p.loss[i])
	}
	if last := p.loss[len(p.loss)-1]; last > nodes[len(nodes)-1] {
		nodes = append(nodes, last)
	}
	return nodes
}

func (p *Discrete) cut(nodes []float64, c *cells) {
	n := len(nodes) - 1
	c.reset(n)
	i := 0
	for k, l := range p.loss {
		m := p.mass[k]
		for i < n && nodes[i+1] < l {
			i++
		}
		switch {
		case l <= nodes[0]:
			c.lowP += m
			c.lowD += m * math.Expm1(nodes[0]-l)
		case l > nodes[n]:
			c.topE += m * -math.Expm1(nodes[n]-l)
			c.topQ += m * math.Exp(-l)
		default:
			c.e[i] += m * -math.Expm1(nodes[i]-l)
			c.d[i] += m * math.Expm1(nodes[i+1]-l)
			// A loss is known to a few ulps of its own size, which moves e and d by that much of the mass.
			c.err[i] += m * ulp * (8*math.Abs(l) + 16*(nodes[i+1]-nodes[i]))
		}
	}
	c.topE += p.inf
	c.lowD += p.never * math.Exp(nodes[0])
	c.topErr = 16 * ulp * (c.topE + c.topQ)
	c.lowErr = 16 * ulp * (c.lowP + c.lowD)
}

// rdp is the larger direction's Rényi divergence, rounded outward.
func (p *Discrete) Renyi(order float64) float64 {
	if p.inf > 0 || p.never > 0 {
		return math.Inf(1)
	}
	var fwd, back renyi.LogSum
	size := 0.0
	for k, l := range p.loss {
		if p.mass[k] == 0 {
			continue
		}
		m := math.Log(p.mass[k])
		fwd.Add(m + (order-1)*l)
		back.Add(m - order*l)
		size = max(size, math.Abs(order*l), math.Abs(m))
	}
	v := max(fwd.Value(), back.Value())
	return max(0, v+16*ulp*(1+size)*float64(1)) / (order - 1) * (1 + 4*ulp)
}
