package pld

import "math"

// Maximum is a pair whose curve is the pointwise maximum of several hockey-stick curves at the
// nodes, connected by chords.
type Maximum struct {
	of   []Pair
	work *cells
}

// NewMaximum returns the pair whose curve is the pointwise maximum of the curves of one pair or
// more.
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
		c.topE, c.topErr = best[0], 16*ulp*best[0]
		return
	}
	// The masses are the changes of slope in e^ε. Each lies exactly on its node, at the top of the
	// cell below.
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

// curveAt sums cells into δ at each node, from the top.
func curveAt(nodes []float64, c *cells) []float64 {
	n := len(nodes) - 1
	out := make([]float64, n+1)
	out[n] = c.topE + c.topErr
	q := c.topQ
	for i := n; i > 0; i-- {
		// δ(n_{i−1}) = e of the cell + P above − e^{n_{i−1}}·Q above, and P above = δ(n_i) + e^{n_i}·Q
		// above.
		out[i-1] = c.e[i-1] + c.err[i-1] + out[i] + (math.Exp(nodes[i])-math.Exp(nodes[i-1]))*q
		gap := math.Exp(nodes[i]) - math.Exp(nodes[i-1])
		if gap > 0 {
			q += (c.e[i-1] + c.d[i-1] + 2*c.err[i-1]) / gap
		}
	}
	return out
}
