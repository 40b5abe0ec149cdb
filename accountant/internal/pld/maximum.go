package pld

import "math"

// Maximum is a pair made of several pairs. At each node, its hockey-stick curve has the largest
// value of their curves. Between nodes it is linear in e^ε. Each of their curves is convex in e^ε,
// so it lies on or below the curve of the Maximum.
type Maximum struct {
	of   []Pair
	work *cells
}

// NewMaximum combines one or more pairs into a Maximum. A single pair is returned unchanged.
func NewMaximum(of []Pair) Pair {
	if len(of) == 1 {
		return of[0]
	}
	return &Maximum{of, &cells{}}
}

func (p *Maximum) plan(tail float64) []float64 {
	var nodes []float64
	for _, q := range p.of {
		nodes = mergeSorted(nodes, q.plan(tail))
	}
	for _, q := range p.of {
		if _, ok := q.(*Glued); ok {
			nodes = mergeSorted(nodes, []float64{0})
		}
	}
	return nodes
}

func (p *Maximum) cut(nodes []float64, c *cells) {
	n := len(nodes) - 1
	best := make([]float64, n+1)
	for _, q := range p.of {
		q.cut(nodes, p.work)
		for i, v := range curveAt(nodes, p.work) {
			best[i] = math.Max(best[i], v)
		}
	}
	c.reset(n)
	if n == 0 {
		c.topE, c.topErr, c.lowP = best[0], 16*ulp*best[0], 1-best[0]
		return
	}
	// Between nodes the curve is linear in e^ε. The mass of Q at a node is the change of the slope
	// there, and the mass of P is e^node times the mass of Q. A node is the top of the cell below it,
	// so the cell's d is zero.
	c.topE = best[n]
	c.topErr = 16 * ulp * best[n]
	below := func(i int) float64 { return (best[i-1] - best[i]) / -math.Expm1(nodes[i-1]-nodes[i]) }
	above := func(i int) float64 {
		if i == n {
			return 0
		}
		return (best[i] - best[i+1]) / math.Expm1(nodes[i+1]-nodes[i])
	}
	for i := 1; i <= n; i++ {
		w := -math.Expm1(nodes[i-1] - nodes[i])
		c.e[i-1] = max(0, below(i)-above(i)) * w
		c.err[i-1] = 32 * ulp * best[i-1]
	}
	c.lowP = max(0, math.Exp(nodes[0])-above(0))
	c.lowErr = 16 * ulp * (c.lowP + best[0])
}

// curveAt returns δ at each node. It starts at the last node and adds one cell after another.
func curveAt(nodes []float64, c *cells) []float64 {
	n := len(nodes) - 1
	out := make([]float64, n+1)
	out[n] = c.topE + c.topErr
	q := math.Exp(nodes[n]) * c.topQ // e^{nᵢ}·Q, since Q alone may underflow
	for i := n; i > 0; i-- {
		// Let P and Q be the masses of losses above nᵢ. Then δ(nᵢ) = P − e^{nᵢ}·Q, and
		// δ(nᵢ₋₁) = e[i−1] + P − e^{nᵢ₋₁}·Q, which is e[i−1] + δ(nᵢ) + (e^{nᵢ} − e^{nᵢ₋₁})·Q.
		w := -math.Expm1(nodes[i-1] - nodes[i])
		out[i-1] = c.e[i-1] + c.err[i-1] + out[i] + w*q
		if w > 0 {
			q = (q + (c.e[i-1]+c.d[i-1]+2*c.err[i-1])/w) * math.Exp(nodes[i-1]-nodes[i])
		}
	}
	return out
}
