package pld

import "math"

// Slope is a pair in which P has density k·e^{(l−a)/2} at losses l in (−a, a), and possibly atoms
// at both ends. Q is P with the sign of the losses changed. With atoms it is the pair of the
// Laplace mechanism. Without atoms it covers all mechanisms of bounded range.
type Slope struct {
	a, k       float64
	lowP, topP float64   // atoms at −a and a
	ends       *Discrete // the atoms; nil without atoms
}

// Laplace returns the pair Lap(0, b) against Lap(1, b) for b = scale. The loss is ±1/b at points
// outside [0, 1].
func Laplace(scale float64) *Slope {
	a := 1 / scale
	p := &Slope{a: a, k: 0.25, lowP: math.Exp(-a) / 2, topP: 0.5}
	p.ends = NewSymmetric([]float64{-a, a}, []float64{p.lowP, p.topP}, 0)
	return p
}

// BoundedRange returns the upper envelope of all pairs of bounded range ε = eps:
// δ(x) = (e^{ε/2}−e^{x/2})²/(e^ε−1). Source: Dong, Durfee and Rogers 2020.
func BoundedRange(eps float64) *Slope {
	return &Slope{a: eps, k: 1 / (2 * -math.Expm1(-eps))}
}

func (p *Slope) plan(float64) []float64 {
	const n = 120
	nodes := []float64{-p.a * (1 + 1e-6)}
	for i := 0; i <= n; i++ {
		nodes = append(nodes, p.a*(2*float64(i)/n-1))
	}
	return nodes
}

// between returns the mass of P's density over (s, t).
func (p *Slope) between(s, t float64) float64 {
	return 2 * p.k * math.Exp((t-p.a)/2) * -math.Expm1((s-t)/2)
}

// scaled returns e^x times the mass of Q's density over (s, t). The exponents are added first,
// because e^x alone may overflow where the product does not.
func (p *Slope) scaled(x, s, t float64) float64 {
	return 2 * p.k * math.Exp(x-(p.a+s)/2) * -math.Expm1((s-t)/2)
}

func (p *Slope) cut(nodes []float64, c *cells) {
	n := len(nodes) - 1
	c.reset(n)
	for i := 0; i < n; i++ {
		lo, hi := nodes[i], nodes[i+1]
		s, t := max(lo, -p.a), min(hi, p.a)
		if t <= s {
			continue
		}
		if s == lo && t == hi {
			w := math.Sinh((hi - lo) / 4)
			c.e[i] = 8 * p.k * math.Exp((lo-p.a)/2) * w * w
			c.d[i] = 8 * p.k * math.Exp((hi-p.a)/2) * w * w
			c.err[i] = 16 * ulp * (c.e[i] + c.d[i])
			continue
		}
		m := p.between(s, t)
		c.e[i] = max(0, m-p.scaled(lo, s, t))
		c.d[i] = max(0, p.scaled(hi, s, t)-m)
		c.err[i] = 16 * ulp * m
	}
	if t := min(nodes[0], p.a); !(t <= -p.a) {
		q := p.scaled(nodes[0], -p.a, t)
		c.lowP = p.between(-p.a, t)
		c.lowD = max(0, q-c.lowP)
		c.lowErr = 16 * ulp * (c.lowP + q)
	}
	if s := max(nodes[n], -p.a); !(s >= p.a) {
		m := p.between(s, p.a)
		c.topQ = p.scaled(0, s, p.a)
		c.topE = max(0, m-p.scaled(nodes[n], s, p.a))
		c.topErr = 16 * ulp * m
	}
	if p.ends != nil {
		p.atoms(nodes, c)
	}
}

func (p *Slope) atoms(nodes []float64, c *cells) {
	var ends cells
	p.ends.cut(nodes, &ends)
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
