package pld

// Blend runs pair a with probability share and pair b otherwise, and reveals which of them ran.
type Blend struct {
	share float64
	a, b  Pair
	work  *cells
}

// NewBlend returns the pair that runs a with probability share, and b otherwise.
func NewBlend(share float64, a, b Pair) *Blend { return &Blend{share, a, b, &cells{}} }

func (p *Blend) plan(tail float64) []float64 { return mergeSorted(p.a.plan(tail), p.b.plan(tail)) }

func (p *Blend) cut(nodes []float64, c *cells) {
	p.a.cut(nodes, p.work)
	p.b.cut(nodes, c)
	s, t, a := p.share, 1-p.share, p.work
	for i := range c.e {
		c.e[i] = t*c.e[i] + s*a.e[i]
		c.d[i] = t*c.d[i] + s*a.d[i]
		c.err[i] = t*c.err[i] + s*a.err[i] + 2*ulp*(c.e[i]+c.d[i])
	}
	c.lowP, c.lowD = t*c.lowP+s*a.lowP, t*c.lowD+s*a.lowD
	c.topE, c.topQ = t*c.topE+s*a.topE, t*c.topQ+s*a.topQ
	c.lowErr = t*c.lowErr + s*a.lowErr + 2*ulp*(c.lowP+c.lowD)
	c.topErr = t*c.topErr + s*a.topErr + 2*ulp*c.topE
}
