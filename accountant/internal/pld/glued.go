package pld

import "math"

// Glued is a pair made of three parts: the half of base above loss zero, the mirror image of this
// half below zero, and the remaining mass at zero.
type Glued struct {
	q, mu float64
	base  *Sampled
	work  *sampledWork
}

// NewGlued returns the curve of a Gaussian of effect mu on a sample of rate q under replace-one.
func NewGlued(q, mu float64) *Glued {
	return &Glued{q, mu, NewSampled(q, Gauss{mu}), &sampledWork{}}
}

func (p *Glued) plan(tail float64) []float64 {
	nodes := p.base.plan(tail)
	least := 1e-6 * nodes[len(nodes)-1] // narrower cells would hold only rounding errors
	var pos []float64
	for _, l := range nodes {
		if l > least {
			pos = append(pos, l)
		}
	}
	var out []float64
	for i := len(pos) - 1; i >= 0; i-- {
		out = append(out, -pos[i])
	}
	out = append(out, 0)
	return append(out, pos...)
}

// atZero returns the mass (of P and of Q) at loss zero: 1 − P(L>0) − Q(L>0) = (1−q)·erf(μ/√8).
func (p *Glued) atZero() float64 { return (1 - p.q) * math.Erf(p.mu/math.Sqrt(8)) }

func (p *Glued) cut(nodes []float64, c *cells) {
	z := 0
	for z < len(nodes) && nodes[z] < 0 {
		z++
	}
	if z < len(nodes) && nodes[z] == 0 {
		p.cutAt(nodes, z, c)
		return
	}
	// Cut with a node at zero, then join the two cells on its sides.
	full := append(append(append([]float64(nil), nodes[:z]...), 0), nodes[z:]...)
	var t cells
	p.cutAt(full, z, &t)
	c.reset(len(nodes) - 1)
	c.lowP, c.lowD, c.lowErr, c.topE, c.topQ, c.topErr = t.lowP, t.lowD, t.lowErr, t.topE,
		t.topQ, t.topErr
	switch z {
	case 0: // the part below zero and the first cell both lie below the first node
		b := nodes[0]
		q := (t.e[0] + t.d[0]) / math.Expm1(b)
		lowQ := t.lowP + t.lowD // at node zero e^0 = 1
		c.lowP += t.e[0] + q
		c.lowD += t.d[0] + math.Expm1(b)*lowQ
		c.lowErr += t.err[0] / min(1, math.Expm1(b))
		copyCells(c, 0, &t, 1)
	case len(nodes):
		a := nodes[z-1]
		c.topE += t.e[z-1] - math.Expm1(a)*t.topQ
		c.topQ += (t.e[z-1] + t.d[z-1]) / -math.Expm1(a)
		c.topErr += t.err[z-1]
		copyCells(c, 0, &t, 0)
	default:
		a, b := nodes[z-1], nodes[z]
		copyCells(c, 0, &t, 0)
		q1 := (t.e[z-1] + t.d[z-1]) / -math.Expm1(a)
		q2 := (t.e[z] + t.d[z]) / math.Expm1(b)
		c.e[z-1] = t.e[z-1] + t.e[z] - math.Expm1(a)*q2
		c.d[z-1] = t.d[z-1] + t.d[z] + math.Expm1(b)*q1
		// The error of q1 and of q2 is the error of its cell, divided by the width of this cell and
		// multiplied by the width of the other cell.
		c.err[z-1] = 4 * (t.err[z-1]*(1+math.Expm1(b)/-math.Expm1(a)) +
			t.err[z]*(1-math.Expm1(a)/math.Expm1(b)))
		copyCells(c, z, &t, z+1)
	}
}

// copyCells copies the cells of t from index j on to c from index i on.
func copyCells(c *cells, i int, t *cells, j int) {
	copy(c.e[i:], t.e[j:])
	copy(c.d[i:], t.d[j:])
	copy(c.err[i:], t.err[j:])
}

// cutAt cuts at nodes, where nodes[z] is zero.
func (p *Glued) cutAt(nodes []float64, z int, c *cells) {
	c.reset(len(nodes) - 1)
	w := p.work
	n := len(nodes) - 1
	p.base.cut(nodes[z:], &w.c)
	copyCells(c, z, &w.c, 0)
	c.topE, c.topQ, c.topErr = w.c.topE, w.c.topQ, w.c.topErr
	if z < n {
		c.d[z] += p.atZero() * math.Expm1(nodes[z+1])
		c.err[z] += 4 * ulp * p.atZero() * math.Expm1(nodes[z+1])
	}
	// The negative half mirrors the cells of the positive one at the mirrored nodes.
	w.nodes = w.nodes[:0]
	for i := z; i >= 0; i-- {
		w.nodes = append(w.nodes, -nodes[i])
	}
	p.base.cut(w.nodes, &w.c)
	for j := 0; j < z; j++ {
		i := z - 1 - j
		up, down := math.Exp(nodes[i]), math.Exp(nodes[i+1])
		c.e[i] = up * w.c.d[j]
		c.d[i] = down * w.c.e[j]
		c.err[i] = down*w.c.err[j] + 2*ulp*(c.e[i]+c.d[i])
	}
	c.lowP = w.c.topQ
	c.lowD = math.Exp(nodes[0]) * w.c.topE
	c.lowErr = math.Exp(nodes[0])*w.c.topErr + 4*ulp*(c.lowP+c.lowD)
	// The atom at zero may be counted in three places: at the bottom of the cell above its node, at
	// the top of the cell below its node, or below the only node.
	if z == n && n > 0 {
		c.e[n-1] += p.atZero() * -math.Expm1(nodes[n-1])
		c.err[n-1] += 4 * ulp * p.atZero()
	} else if n == 0 {
		c.lowP += p.atZero()
	}
}
