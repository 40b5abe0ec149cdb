package pld

import "math"

// Sampled is the pair ((1−q)Q+qP ‖ Q) of a mechanism that runs with probability q. The values e and
// d of its cells are q times the values of the base. So no precision is lost for small q.
type Sampled struct {
	q    float64
	base Pair
	work *sampledWork
}

type sampledWork struct {
	nodes []float64
	c     cells
}

// NewSampled returns the pair of base run with probability q.
func NewSampled(q float64, base Pair) *Sampled {
	return &Sampled{q, base, &sampledWork{}}
}

// plan maps the nodes of the base. Where Q has mass but P has hardly any, the loss is the floor
// log(1−q). If no other losses are near, the floor has a cell of its own, which rounding cannot
// miss.
func (p *Sampled) plan(tail float64) []float64 {
	nodes := p.base.plan(min(tail/p.q, 1e-3))
	b := &p.work.c
	p.base.cut(nodes[:1], b)
	hidden := b.lowP < 1e-3*(b.lowP+b.lowD) // far below the first node
	floor := math.Log1p(-p.q)
	span := logMixture(p.q, nodes[len(nodes)-1]) - floor
	width := 1e-6 * span
	out := make([]float64, 0, len(nodes)+2)
	for _, l := range nodes {
		x, n := logMixture(p.q, l), len(out)
		atFloor := n == 0 && hidden || n > 0 && out[n-1] <= floor+width
		if atFloor && x > floor+span/100 && span > -floor/10 {
			out = append(out[:0], floor-width, floor+width, x)
		} else if n == 0 || x > out[n-1] {
			out = append(out, x)
		}
	}
	return out
}

// logMixture returns log(1−q+q·e^l).
func logMixture(q, l float64) float64 {
	if l > 30 {
		return l + math.Log(q) + math.Log1p((1-q)/q*math.Exp(-l))
	}
	if u := q * math.Expm1(l); u > -0.5 {
		return math.Log1p(u)
	}
	return math.Log((1 - q) + q*math.Exp(l)) // keeps the digits of 1−q
}

// aboveFloor returns 1−q−e^x for x at or below the floor. Its error is at most 2 ulps of itself and
// 2 of the smaller of q and 1−q.
func aboveFloor(q, x float64) float64 {
	if q < 0.5 {
		return max(0, -math.Expm1(x)-q)
	}
	return max(0, 1-q-math.Exp(x))
}

// baseLoss inverts logMixture. It returns −∞ at and below the floor log(1−q).
func baseLoss(q, eps float64) float64 {
	if eps > 30 {
		return eps - math.Log(q) + math.Log1p(-(1-q)*math.Exp(-eps))
	}
	if q > 0.5 && eps < -0.5 { // 1−q has no error, and e^ε keeps its digits
		return math.Log(max(0, math.Exp(eps)-(1-q)) / q)
	}
	v := math.Expm1(eps) / q
	if v <= -1 {
		return math.Inf(-1)
	}
	return math.Log1p(v)
}

// maxLoss is below the logarithm of the largest float64.
const maxLoss = 700

func (p *Sampled) cut(nodes []float64, c *cells) {
	w := p.work
	w.nodes = w.nodes[:0]
	k := 0 // nodes at or below the floor log(1−q), where no loss can be
	for _, eps := range nodes {
		l := baseLoss(p.q, eps)
		if l < -600 {
			k++
			continue
		}
		w.nodes = append(w.nodes, l)
	}
	if len(w.nodes) == 0 { // everything lies above the last node
		c.reset(len(nodes) - 1)
		floor := math.Exp(nodes[len(nodes)-1])
		c.topQ, c.topE, c.topErr = 1, max(0, 1-floor), 2*ulp
		return
	}
	if !(w.nodes[len(w.nodes)-1] < maxLoss) {
		// The base's curve is not known there; it lies between 0 and 1.
		c.reset(len(nodes) - 1)
		c.topE, c.topErr = p.q/2, p.q/2
		return
	}
	p.base.cut(w.nodes, &w.c)
	b := &w.c
	c.reset(len(nodes) - 1)
	grow := math.Exp(w.nodes[0])
	lowQ := (b.lowD + b.lowP) / grow
	last := w.nodes[len(w.nodes)-1] // has an error of a few ulps
	c.topErr = p.q * (b.topErr + 4*ulp*b.topE + 8*ulp*math.Abs(last)*math.Exp(last)*b.topQ)
	if k == 0 {
		c.lowP = (1-p.q)*lowQ + p.q*b.lowP
		c.lowD = p.q * b.lowD
		c.lowErr = p.q*b.lowErr + (1-p.q)*b.lowErr/grow + 4*ulp*(c.lowP+c.lowD)
	} else {
		// The base's lowest losses fall into the cell that contains the floor.
		above := aboveFloor(p.q, nodes[k-1])
		c.e[k-1] = p.q*b.lowP + above*lowQ
		c.d[k-1] = p.q * b.lowD
		// The last term is the rounding error of aboveFloor, which also moves the floor.
		c.err[k-1] = p.q*b.lowErr + above*b.lowErr/grow + 4*ulp*(c.e[k-1]+c.d[k-1]) +
			2*ulp*min(p.q, 2-2*p.q)*lowQ
	}
	for i := range b.e {
		c.e[k+i] = p.q * b.e[i]
		c.d[k+i] = p.q * b.d[i]
		c.err[k+i] = p.q*b.err[i] + 2*ulp*p.q*(b.e[i]+b.d[i])
	}
	c.topE = p.q * b.topE
	c.topQ = b.topQ
}

// Mirror is a pair with P and Q swapped, so that the loss changes sign.
type Mirror struct {
	base Pair
	work *sampledWork
}

// NewMirror returns base with P and Q swapped.
func NewMirror(base Pair) *Mirror { return &Mirror{base, &sampledWork{}} }

func (p *Mirror) plan(tail float64) []float64 {
	nodes := p.base.plan(tail)
	out := make([]float64, len(nodes))
	for i, l := range nodes {
		out[len(out)-1-i] = -l
	}
	return out
}

func (p *Mirror) cut(nodes []float64, c *cells) {
	w := p.work
	w.nodes = w.nodes[:0]
	for i := len(nodes) - 1; i >= 0; i-- {
		w.nodes = append(w.nodes, -nodes[i])
	}
	p.base.cut(w.nodes, &w.c)
	b := &w.c
	n := len(nodes) - 1
	c.reset(n)
	for j := 0; j < n; j++ {
		i := n - 1 - j // cell (nodes[i], nodes[i+1]] is the mirror of base cell j
		up, down := math.Exp(nodes[i]), math.Exp(nodes[i+1])
		c.e[i] = up * b.d[j]
		c.d[i] = down * b.e[j]
		c.err[i] = down*b.err[j] + 2*ulp*(c.e[i]+c.d[i])
	}
	c.lowP = b.topQ
	c.lowD = math.Exp(nodes[0]) * b.topE
	c.topE = math.Exp(nodes[n]) * b.lowD
	c.topQ = b.lowP
	c.lowErr = math.Exp(nodes[0])*b.topErr + 4*ulp*(c.lowD+c.lowP)
	c.topErr = math.Exp(nodes[n])*b.lowErr + 4*ulp*c.topE
}

// SampledBoth returns the pairs of a Poisson sample of a mechanism under AddOrRemoveOne:
// ((1−q)Q+qP ‖ Q) for removing, (P ‖ (1−q)P+qQ) for adding. Source: Zhu, Dong and Wang 2022,
// Theorem 11.
func SampledBoth(q float64, base *Pairs) *Pairs {
	return &Pairs{
		Loose:    base.Loose,
		Envelope: base.Envelope,
		Remove:   NewSampled(q, base.Remove),
		Add:      NewMirror(NewSampled(q, NewMirror(base.Adding()))),
	}
}
