package accountant

import "math"

// discretePair has finitely many losses, in increasing order.
type discretePair struct {
	loss, mass []float64 // mass of P
	inf        float64   // P where Q is zero
	never      float64   // Q where P is zero
}

func (p *discretePair) plan(float64) []float64 {
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

func (p *discretePair) cut(nodes []float64, c *cells) {
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
func (p *discretePair) rdp(order float64) float64 {
	if p.inf > 0 || p.never > 0 {
		return math.Inf(1)
	}
	var fwd, back logSum
	size := 0.0
	for k, l := range p.loss {
		if p.mass[k] == 0 {
			continue
		}
		m := math.Log(p.mass[k])
		fwd.add(m + (order-1)*l)
		back.add(m - order*l)
		size = max(size, math.Abs(order*l), math.Abs(m))
	}
	v := max(fwd.value(), back.value())
	return max(0, v+16*ulp*(1+size)*float64(1)) / (order - 1) * (1 + 4*ulp)
}

// slopePair has density C·e^{l/2} of P over (−a, a), and possibly atoms at both ends: the curve of the Laplace mechanism, with atoms,
// and of all mechanisms of bounded range, without.
type slopePair struct {
	a, c       float64
	lowP, topP float64 // atoms at −a and a
}

// laplacePair is Lap(0, b) against Lap(1, b): losses ±1/b where the point lies outside [0, 1].
func laplacePair(scale float64) *slopePair {
	a := 1 / scale
	return &slopePair{a: a, c: math.Exp(-a/2) / 4, lowP: math.Exp(-a) / 2, topP: 0.5}
}

// exponentialPair is the upper envelope of all pairs of bounded range ε, δ(x) = (e^{ε/2}−e^{x/2})²/(e^ε−1). Source: Dong, Durfee and Rogers 2020.
func exponentialPair(eps float64) *slopePair {
	return &slopePair{a: eps, c: math.Exp(-eps/2) / (2 * -math.Expm1(-eps))}
}

func (p *slopePair) plan(float64) []float64 {
	const n = 120
	nodes := []float64{-p.a * (1 + 1e-6)}
	for i := 0; i <= n; i++ {
		nodes = append(nodes, p.a*(2*float64(i)/n-1))
	}
	return nodes
}

// between is P of the density over (s, t).
func (p *slopePair) between(s, t float64) float64 {
	return 2 * p.c * math.Exp(s/2) * math.Expm1((t-s)/2)
}

func (p *slopePair) cut(nodes []float64, c *cells) {
	n := len(nodes) - 1
	c.reset(n)
	for i := 0; i < n; i++ {
		lo, hi := nodes[i], nodes[i+1]
		s, t := max(lo, -p.a), min(hi, p.a)
		if !(t > s) {
			continue
		}
		w := math.Sinh((hi - lo) / 4)
		if s == lo && t == hi {
			c.e[i] = 8 * p.c * math.Exp(lo/2) * w * w
			c.d[i] = 8 * p.c * math.Exp(hi/2) * w * w
			c.err[i] = 16 * ulp * (c.e[i] + c.d[i])
			continue
		}
		m := p.between(s, t)
		q := 2 * p.c * math.Exp(-t/2) * math.Expm1((t-s)/2)
		c.e[i] = max(0, m-math.Exp(lo)*q)
		c.d[i] = max(0, math.Exp(hi)*q-m)
		c.err[i] = 16 * ulp * m
	}
	if t := min(nodes[0], p.a); t > -p.a {
		q := 2 * p.c * math.Exp(-t/2) * math.Expm1((t+p.a)/2)
		c.lowP = p.between(-p.a, t)
		c.lowD = max(0, math.Exp(nodes[0])*q-c.lowP)
		c.lowErr = 16 * ulp * (c.lowP + q)
	}
	if s := max(nodes[n], -p.a); s < p.a {
		m := p.between(s, p.a)
		c.topQ = 2 * p.c * math.Exp(-p.a/2) * math.Expm1((p.a-s)/2)
		c.topE = max(0, m-math.Exp(nodes[n])*c.topQ)
		c.topErr = 16 * ulp * m
	}
	if p.topP > 0 {
		p.atoms(nodes, c)
	}
}

func (p *slopePair) atoms(nodes []float64, c *cells) {
	var ends cells
	(&discretePair{loss: []float64{-p.a, p.a}, mass: []float64{p.lowP, p.topP}}).cut(nodes, &ends)
	for i := range c.e {
		c.e[i] += ends.e[i]
		c.d[i] += ends.d[i]
		c.err[i] += ends.err[i]
	}
	c.lowP, c.lowD = c.lowP+ends.lowP, c.lowD+ends.lowD
	c.topE, c.topQ = c.topE+ends.topE, c.topQ+ends.topQ
	c.lowErr += ends.lowErr
	c.topErr += ends.topErr
}
