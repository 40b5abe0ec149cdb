package pld

import "math"

// Opposite is a Poisson-sampled clipped sum under ReplaceOne. The pair (1−q)N(0,1)+qN(μ,1) against
// (1−q)N(0,1)+qN(−μ,1) dominates it.
//
// Proof. Given the sample of the other records, the outputs are (1−q)N(0)+qN(u) and (1−q)N(0)+qN(v)
// with |u|, |v| ≤ μ. For t ≥ 1, δ = ∫(q·φ_u − t·q·φ_v − (t−1)(1−q)·φ_0)₊. Let S be the set where
// the integrand is positive. Let w be any direction with u·w ≥ 0 and v·w ≤ u·w. A point of S that
// moves along w stays in S, so S meets every line along w in a half-line. The derivative of δ as v
// moves along −w is tq∫_S w·(x−v)φ_v, so it is not negative.
//
// First let w be the part of u orthogonal to v. Then v turns away from u at constant norm, until
// the two are opposite. Next let w = u−v. Then v grows until its norm is μ, and u grows in the same
// way. For t < 1 swap the roles of u and v. The same u and v maximise δ for every t, so their pair
// dominates.
type Opposite struct{ Q, Mu float64 }

// lossAt returns the loss at x. The loss is odd and increasing in x.
func (p Opposite) lossAt(x float64) float64 {
	return logMixture(p.Q, p.Mu*x-p.Mu*p.Mu/2) - logMixture(p.Q, -p.Mu*x-p.Mu*p.Mu/2)
}

// pointAt returns the x with loss l. With y = e^{μx} and k = e^{−μ²/2} it solves
// qk·y² − (1−q)(e^l−1)·y − e^l·qk = 0. It divides by e^{l/2}, so that the result is odd in l.
func (p Opposite) pointAt(l float64) float64 {
	if l == 0 {
		return 0
	}
	// y = e^{l/2}·(b + √(b² + 1)) with b = (1−q)·sinh(l/2)/qk.
	if k := math.Exp(-p.Mu * p.Mu / 2); k > 1e-100 {
		return (l/2 + math.Asinh((1-p.Q)*math.Sinh(l/2)/(p.Q*k))) / p.Mu
	}
	// k may underflow and b overflow, so compute log b. For large b, asinh b = log 2b. μ² may overflow
	// too, so divide its term by μ first.
	a := math.Abs(l / 2)
	rest := math.Log1p(-p.Q) - math.Log(p.Q) + a + math.Log(-math.Expm1(-2*a)/2)
	if logB := rest + p.Mu*p.Mu/2; logB < 300 {
		return math.Copysign(a+math.Asinh(math.Exp(logB)), l) / p.Mu
	}
	return math.Copysign((a+rest+math.Ln2)/p.Mu+p.Mu/2, l)
}

func (p Opposite) plan(tail float64) []float64 {
	if !(p.Mu < maxEffect/2) {
		return beyond()
	}
	x := normalQuantileUpper(tail) + p.Mu
	n := int(2*x/0.15) | 1
	var nodes []float64
	top := p.lossAt(x)
	for i := 0; i <= n; i++ {
		l := p.lossAt(x * (2*float64(i)/float64(n) - 1))
		if len(nodes) == 0 || l > nodes[len(nodes)-1]+1e-7*top {
			nodes = append(nodes, l)
		}
	}
	return nodes
}

func (p Opposite) cut(nodes []float64, c *cells) {
	c.reset(len(nodes) - 1)
	var prev [3]side
	for i, l := range nodes {
		x := p.pointAt(l)
		now := [3]side{normalSide(x), normalSide(x - p.Mu), normalSide(x + p.Mu)}
		if i == 0 {
			below := func(k int) float64 { return now[k].below() }
			c.lowP = (1-p.Q)*below(0) + p.Q*below(1)
			c.lowD = max(0, p.form(l, below(0), below(1), below(2)))
			c.lowErr = p.wrong(l, now) + 8*ulp*c.lowP
		} else {
			var v, e [3]float64
			for k := range v {
				v[k], e[k] = between(prev[k], now[k])
			}
			c.e[i-1] = max(0, -p.form(nodes[i-1], v[0], v[1], v[2]))
			c.d[i-1] = max(0, p.form(l, v[0], v[1], v[2]))
			c.err[i-1] = p.size(l, e[0], e[1], e[2]) + 4*ulp*p.size(l, v[0], v[1], v[2])
		}
		if i == len(nodes)-1 {
			above := func(k int) float64 { return now[k].above() }
			c.topQ = (1-p.Q)*above(0) + p.Q*above(2)
			c.topE = max(0, -p.form(l, above(0), above(1), above(2)))
			c.topErr = p.wrong(l, now) + 4*ulp*p.size(l, above(0), above(1), above(2))
		}
		prev = now
	}
}

// form returns e^l·Q − P for masses of the three normal components.
func (p Opposite) form(l, zero, plus, minus float64) float64 {
	return (1-p.Q)*math.Expm1(l)*zero + p.Q*(math.Exp(l)*minus-plus)
}

// size returns the sum of the absolute values of form's terms.
func (p Opposite) size(l, zero, plus, minus float64) float64 {
	return (1-p.Q)*math.Abs(math.Expm1(l))*zero + p.Q*(math.Exp(l)*minus+plus)
}

func (p Opposite) wrong(l float64, a [3]side) float64 {
	return p.size(l, a[0].err, a[1].err, a[2].err)
}
