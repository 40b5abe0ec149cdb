package pld

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// Renyi bounds the divergence of a pair of bounded loss. It returns the divergence of the version
// up (see discretise), which dominates the pair. It returns false for other pairs. The moment minus
// one is E_Q[r^α − 1 − α(r − 1)]. Its terms are not negative, so nothing cancels.
func Renyi(p Pair, order float64) (float64, bool) {
	if !planFits([]Pair{p}, 1e-300) {
		return 0, false
	}
	g := gridder{nodes: apart(p.plan(1e-300))}
	up, inf := g.connect(p)
	if !(inf <= 0) {
		return 0, false
	}
	var s renyi.LogSum
	for i, l := range g.nodes { // P has mass up[i] at loss l
		if l != 0 {
			s.Add(math.Log(up[i]) - l + renyi.LogMomentGap(1, l, order))
		}
	}
	// The mass of Q that remains when P's losses move up to the first node.
	s.Add(math.Log(order-1) + math.Log(g.c.lowD+g.c.lowErr) - g.nodes[0])
	return renyi.FromMomentMinusOne(s.Value(), order, 1e-8), true
}

// widest is the largest width of the cells that apart returns.
const widest = 4

// apart leaves out each node that is too close to the next node for a precise distance. It adds
// nodes to wide cells, because the rounding errors of a cell grow with e^width. It also moves the
// last node above the largest loss.
func apart(nodes []float64) []float64 {
	n := len(nodes)
	size := max(math.Abs(nodes[0]), math.Abs(nodes[n-1]))
	out := []float64{nodes[n-1] + 1e-9*size}
	for i := n - 2; i >= 0; i-- {
		top := out[len(out)-1]
		gap := top - nodes[i]
		if !(gap >= 1e-6*size) {
			continue
		}
		for more := math.Ceil(gap / widest); more > 1; more-- {
			out = append(out, nodes[i]+gap*(more-1)/math.Ceil(gap/widest))
		}
		out = append(out, nodes[i])
	}
	slices.Reverse(out)
	return out
}

// OppositeRenyi integrates E_Q[r^α − 1 − α(r−1)] for the ratio r of the two mixtures by the
// trapezoid rule.
func OppositeRenyi(q, mu, order float64) float64 {
	plain := 2 * order * mu * mu * (1 + 4*ulp)
	lo, hi := -13-mu, 2*order*mu+13
	step := min(0.1, math.Pi/mu/8)
	if !((hi-lo)/step < 1<<15) {
		return plain
	}
	var sum renyi.LogSum
	for x := lo; x <= hi; x += step {
		a := logMixture(q, mu*x-mu*mu/2)
		b := logMixture(q, -mu*x-mu*mu/2)
		sum.Add(renyi.LogMomentGap(1, a-b, order) + b - x*x/2)
	}
	s := sum.Value() + math.Log(step) - 0.5*math.Log(2*math.Pi)
	return renyi.AtMost(plain, renyi.FromMomentMinusOne(s, order, 1e-10+1e-15*math.Abs(s)))
}

// Renyi integrates both directions by the trapezoid rule: E_Q[r^α] and E_P[r^{−α}], each with 1
// subtracted.
func (p *Mixture) Renyi(order float64) float64 {
	if len(p.shift) == 0 {
		return 0
	}
	plain := order * p.far * p.far / 2 * (1 + 4*ulp) // if the largest sensitivity has probability 1
	lo, hi := -13-order*p.far, order*p.far+13
	step := min(0.1, math.Pi/p.far/8)
	if !((hi-lo)/step < 1<<14) {
		return plain
	}
	var fwd, back renyi.LogSum
	for x := lo; x <= hi; x += step {
		l, _ := p.lossAt(x)
		fwd.Add(renyi.LogMomentGap(1, l, order) - x*x/2)
		back.Add(renyi.LogMomentGap(1, -l, order) + l - x*x/2)
	}
	s := max(fwd.Value(), back.Value()) + math.Log(step) - 0.5*math.Log(2*math.Pi)
	return renyi.AtMost(plain, renyi.FromMomentMinusOne(s, order, 1e-10+1e-15*math.Abs(s)))
}
