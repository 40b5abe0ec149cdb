package pld

import "math"

// gridded is the loss distribution of one term at the losses offset + at[j]·h, in two versions. The
// hockey-stick curve of up lies above the true curve, and the hockey-stick curve of low lies below
// it. A gridded is valid until its gridder makes the next one.
type gridded struct {
	offset  float64
	at      []int64   // increasing
	up, low []float64 // the masses of P in each version
	inf     float64   // mass of P at infinite loss in up
}

// gridder turns pairs into gridded losses and keeps its scratch.
type gridder struct {
	nodes   []float64
	c       cells
	lift    []float64
	unused  float64 // excess that balanced no deficit: about the decrease of the mean loss
	up, low []float64
}

// discretise makes the version up of p at the losses offset + at[j]·h and, if lower is set, also
// the version low.
//
// For up, the mass of each cell goes to the two ends of the cell. This keeps the masses of both P
// and Q. The curve then consists of chords of the true curve: it connects the dots. It is the
// lowest curve above the true curve with kinks only on the grid (Doroshenko et al. 2022).
//
// For low, shares of neighbouring cells are merged such that their joint loss falls exactly on the
// node between the cells. Merging outputs is post-processing, so the curve lies below the true one.
// Both errors are of second order in h.
func (g *gridder) discretise(p Pair, h, offset float64, at []int64, never float64,
	lower bool) gridded {
	g.nodes = grown(g.nodes, len(at))
	for j, k := range at {
		g.nodes[j] = offset + float64(k)*h
	}
	l := gridded{offset: offset, at: at}
	l.up, l.inf = g.connect(p)
	if lower {
		l.low = g.merge(never)
	}
	return l
}

// connect returns the masses of P at the nodes and at infinite loss. The curve of this distribution
// consists of chords of the true curve. If the cells do not hold all of P, or are no numbers, then
// all of P is at infinite loss.
func (g *gridder) connect(p Pair) (up []float64, inf float64) {
	p.cut(g.nodes, &g.c)
	c, n := &g.c, len(g.nodes)-1
	g.up = grown(g.up, n+1)
	clear(g.up)
	up = g.up
	for i := 0; i < n; i++ {
		w := g.nodes[i+1] - g.nodes[i]
		up[i+1] += (c.e[i] + c.err[i]) / -math.Expm1(-w)
		up[i] += lowShare(c.d[i]+c.err[i], w)
	}
	up[0] += c.lowP + c.lowErr
	up[n] += math.Exp(g.nodes[n]) * c.topQ * (1 + 4*ulp)
	inf = c.topE + c.topErr
	total := inf
	for i := range up {
		up[i] *= 1 + 8*ulp
		total += up[i]
	}
	if !(total > 1-lost && total < 1e9) { // after an overflow nothing is proven
		clear(up)
		return up, 1
	}
	return up, inf
}

// lost is the share of P that rounding may lose. If connect finds less of P, a cell is wrong.
const lost = 1e-9

// lowShare returns d/(e^w − 1), the part of a cell of width w that goes to its lower end. e^w may
// overflow where the quotient does not underflow.
func lowShare(d, w float64) float64 {
	if w > maxLoss {
		half := math.Exp(-w / 2)
		return d * half * half
	}
	return d / math.Expm1(w)
}

// merge returns the masses of P at the nodes. The curve of this distribution lies below the true
// curve. merge uses the cells that connect has cut. never is the mass of P at infinite loss; merge
// does not move it.
func (g *gridder) merge(never float64) []float64 {
	c, n := &g.c, len(g.nodes)-1
	g.low = grown(g.low, n+1)
	clear(g.low)
	low := g.low
	if n == 0 {
		low[0] = max(0, math.Exp(g.nodes[0])*c.topQ-c.topErr)
		return low
	}
	for i := 0; i < n; i++ {
		c.e[i] = max(0, c.e[i]-c.err[i])
		c.d[i] = max(0, c.d[i]-c.err[i])
	}
	lift := g.lifts(max(0, c.topE-never-c.topErr))
	g.unused = 0
	for i := 1; i < n; i++ {
		g.unused += (1-lift[i])*c.e[i] - lift[i-1]*c.d[i-1]
	}
	// The excess above the last node is left out: it is rare, but has a large weight after tilting.
	low[n] = max(0, math.Exp(g.nodes[n])*c.topQ-2*c.topErr)
	for i := 0; i < n; i++ {
		w := g.nodes[i+1] - g.nodes[i]
		m := c.e[i]/-math.Expm1(-w) + lowShare(c.d[i], w)
		low[i+1] += lift[i] * m
		low[i] += (1 - lift[i]) * m
	}
	for i := range low {
		low[i] *= 1 - 8*ulp
	}
	return low
}

// lifts returns the share of each cell that is merged upwards; the rest is merged downwards. The
// mass that goes up to a node has less P than e^{node}·Q, a deficit. The mass that goes down to the
// node has an excess of P. The two must balance; over is the excess above the last node.
//
// The balance at a node gives one share from the next. This recursion damps its errors only while
// masses grow. So it runs down from the top and up from the bottom, to the cell of the largest
// density. Some excess remains there and at shares that reach their limits.
func (g *gridder) lifts(over float64) []float64 {
	c, n := &g.c, len(g.nodes)-1
	g.lift = grown(g.lift, n)
	lift, peak := g.lift, g.peak()
	below := 0.0 // excess of cell i that must go down to balance the deficit of cell i−1 that goes up
	for i := range peak + 1 {
		lift[i] = 1
		if below > 0 {
			if below > c.e[i]*(1-8*ulp) { // too much went up
				below = c.e[i] * (1 - 8*ulp)
				lift[i-1] = share(below, c.d[i-1], lift[i-1])
			}
			if below > 0 {
				lift[i] = max(0, 1-below/c.e[i]*(1+8*ulp))
			}
		}
		below = lift[i] * c.d[i] * (1 + 8*ulp)
	}
	first := lift[peak]
	lift[n-1] = share(over, c.d[n-1], 0.5)
	for i := n - 1; i > peak; i-- {
		lift[i-1] = share((1-lift[i])*c.e[i], c.d[i-1], 1)
	}
	lift[peak] = min(lift[peak], first)
	return lift
}

// peak returns the cell of the largest density.
func (g *gridder) peak() int {
	at, most := 0, 0.0
	for i, e := range g.c.e {
		w := g.nodes[i+1] - g.nodes[i]
		if v := (e + g.c.d[i]) / (w * w); v > most {
			at, most = i, v
		}
	}
	return at
}

// share returns the fraction of a deficit that an excess can balance, at most limit. The result is
// slightly below the exact fraction, so that rounding cannot make it too large.
func share(excess, deficit, limit float64) float64 {
	if deficit*limit <= excess*(1-4*ulp) {
		return limit
	}
	if !(deficit > 0) {
		return 0
	}
	return excess / deficit * (1 - 8*ulp)
}
