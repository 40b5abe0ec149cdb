package pld

import "math"

// gridded is the loss distribution of one term at the losses offset + j·h, twice: up is never
// easier to beat than the truth (its hockey-stick curve lies above), low never harder. It is valid
// until its gridder makes the next one.
type gridded struct {
	first   int64     // index of the first point
	up, low []float64 // masses of P
	inf     float64   // mass of P at infinite loss in up
}

// gridder turns pairs into gridded losses and keeps its scratch.
type gridder struct {
	nodes   []float64
	c       cells
	lift    []float64
	up, low []float64
}

// discretise connects the dots of the hockey-stick curve on the grid of width h from index lo to
// hi.
//
// Up: each cell's mass goes to its two ends so that P and Q are both kept: the curve's chords, the
// best curve above with kinks on the grid (Doroshenko et al. 2022). Low: the masses of neighbouring
// cells are merged in shares whose joint loss falls exactly on the grid point between them. Merging
// outputs is post-processing, so the curve is below the truth; both errors are of second order in
// h.
func (g *gridder) discretise(p Pair, h, offset float64, lo, hi int64, never float64) gridded {
	n := int(hi - lo)
	g.nodes = grown(g.nodes, n+1)
	for j := range g.nodes {
		g.nodes[j] = offset + float64(lo+int64(j))*h
	}
	p.cut(g.nodes, &g.c)
	g.up, g.low = grown(g.up, n+1), grown(g.low, n+1)
	clear(g.up)
	clear(g.low)
	l := gridded{first: lo, up: g.up, low: g.low}
	g.connect(h, &l)
	g.merge(h, never, &l)
	return l
}

func (g *gridder) connect(h float64, l *gridded) {
	c := &g.c
	n := len(c.e)
	toUpper, toLower := 1/-math.Expm1(-h), 1/math.Expm1(h)
	for i := 0; i < n; i++ {
		l.up[i+1] += (c.e[i] + c.err[i]) * toUpper
		l.up[i] += (c.d[i] + c.err[i]) * toLower
	}
	l.up[0] += c.lowP + c.lowErr
	l.up[n] += math.Exp(g.nodes[n]) * c.topQ * (1 + 4*ulp)
	l.inf = c.topE + c.topErr
	for i := range l.up {
		l.up[i] *= 1 + 4*ulp
	}
}

// merge walks down from the top: where masses grow the recursion for the shares damps its own
// error; below the peak it may run into its limits, where every second grid point is skipped, at a
// cost that is still of second order. never is the mass of P that is at infinite loss and stays
// there.
func (g *gridder) merge(h, never float64, l *gridded) {
	c := &g.c
	n := len(c.e)
	if n == 0 {
		l.low[0] = max(0, math.Exp(g.nodes[0])*c.topQ-c.topErr)
		return
	}
	toUpper, shrink := 1/-math.Expm1(-h), math.Exp(-h)
	for i := 0; i < n; i++ {
		c.e[i] = max(0, c.e[i]-c.err[i])
		c.d[i] = max(0, c.d[i]-c.err[i])
	}
	if cap(g.lift) < n {
		g.lift = make([]float64, n)
	}
	lift := g.lift[:n] // the share of a cell that is merged upwards
	lift[n-1] = share(max(0, c.topE-never-c.topErr), c.d[n-1], 0.5)
	for i := n - 1; i > 0; i-- {
		lift[i-1] = share((1-lift[i])*c.e[i], c.d[i-1], 1)
	}
	l.low[n] = max(0, math.Exp(g.nodes[n])*c.topQ+c.topE-never-2*c.topErr)
	for i := 0; i < n; i++ {
		m := (c.e[i] + shrink*c.d[i]) * toUpper
		l.low[i+1] += lift[i] * m
		l.low[i] += (1 - lift[i]) * m
	}
	for i := range l.low {
		l.low[i] *= 1 - 8*ulp
	}
}

// share is the part of a deficit that an excess can balance, at most limit; a hair less, so that
// rounding cannot overdraw.
func share(excess, deficit, limit float64) float64 {
	if deficit*limit <= excess {
		return limit
	}
	if !(deficit > 0) {
		return 0
	}
	return excess / deficit * (1 - 4*ulp)
}
