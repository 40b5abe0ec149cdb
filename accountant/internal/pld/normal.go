package pld

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// normal holds the moments of a tilted sum of independent losses. With many uses the sum is nearly
// normal, however fine a grid would have to be. For the tilt θ and g(y) = e^{−θy}(1 − e^{−y})₊,
//
//	δ(ε) = e^{K(θ)−θε}·E g(S − ε),
//
// where S has the tilted distribution. The function g rises from 0 to its largest value G and falls
// to 0 again. So if the distribution functions of S and of a normal N are at most Δ apart, then
// E g(S − ε) is within 2GΔ of E g(N − ε). Δ is at most 0.5583·Σ E|L−EL|³ ÷ sd³ (Shevtsova 2013, for
// the inequality of Berry and Esseen). The bracket is narrow for small and for large δ, because the
// error is relative to the tilted mass.
type normal struct {
	theta            float64
	log              float64 // K(θ) = Σ log E e^{θL}
	mean, square, to float64 // Σ of means, variances and third absolute central moments
	slip             float64 // bound of the rounding error of log
	inf              float64 // log P(S < ∞)
}

// add adds n uses with masses at losses.
func (s *normal) add(n float64, loss, mass []float64, inf float64) {
	top := math.Inf(-1)
	for i, m := range mass {
		if m > 0 {
			top = max(top, math.Log(m)+s.theta*loss[i])
		}
	}
	var all, first exact
	size, square, cube := 0.0, 0.0, 0.0
	weight := func(i int) float64 { return mass[i] * math.Exp(s.theta*loss[i]-top) }
	for i, l := range loss {
		w := weight(i)
		all.add(w)
		first.add(w * l)
		size += w * s.theta * math.Abs(l)
	}
	sum := all.value()
	mean := first.value() / sum
	for i, l := range loss {
		d := math.Abs(l - mean)
		square += weight(i) / sum * d * d
		cube += weight(i) / sum * d * d * d
	}
	s.log += n * (top + math.Log(sum))
	s.mean, s.square, s.to = s.mean+n*mean, s.square+n*square, s.to+n*cube
	s.slip += n * ulp * (24 + 4*size/sum + 4*math.Abs(top)) // of weights, sums and logarithms
	s.inf += n * math.Log1p(-min(inf, 1))
}

// exact adds numbers with one rounding error in all (Neumaier 1974).
type exact struct{ sum, rest float64 }

func (s *exact) add(x float64) {
	t := s.sum + x
	if math.Abs(s.sum) >= math.Abs(x) {
		s.rest += s.sum - t + x
	} else {
		s.rest += x - t + s.sum
	}
	s.sum = t
}

func (s *exact) value() float64 { return s.sum + s.rest }

// delta returns a bound of δ(eps), from above if sign is 1 and from below if it is −1.
func (s *normal) delta(eps, sign float64) float64 {
	sd, theta := math.Sqrt(s.square), s.theta
	m := (s.mean - eps) / sd
	a, b := erfcx((theta*sd-m)/math.Sqrt2), erfcx(((theta+1)*sd-m)/math.Sqrt2)
	far := 0.5583 * s.to / (sd * sd * sd)
	far += 1e-9 + s.slip*(1+math.Abs(s.mean)/sd) // rounding of the moments
	most := math.Exp(theta*math.Log(theta) - (theta+1)*math.Log1p(theta))
	value := math.Exp(-m*m/2)/2*(a-b+sign*1e-12*(a+b)) + sign*2*most*far
	log := s.log + sign*(s.slip+1e-12*(1+math.Abs(s.log)+theta*eps)) - theta*eps
	if inf := -math.Expm1(s.inf); sign > 0 {
		return renyi.AtMost(1, math.Exp(log)*value+inf*(1+8*ulp))
	}
	if v := math.Exp(log) * value; v > 0 {
		return v
	}
	return 0 // NaN proves nothing
}

// byNormal improves an answer by moments.
func (q *question) byNormal(w *workspace, theta float64, a Answer) Answer {
	up, low := normal{theta: max(theta, 1e-3)}, normal{theta: max(theta, 1e-3)}
	for i, p := range q.pairs {
		nodes, n := p.plan(q.tailMass()), float64(q.n[i])
		w.g.nodes = halved(apart(nodes))
		masses, inf := w.g.connect(p)
		up.add(n, w.g.nodes, masses, inf)
		if q.lower {
			loss, mass := w.g.bins(p, halved(nodes))
			low.add(n, loss, mass, 0)
		}
	}
	if q.byEps {
		a.Upper, a.Lower = min(a.Upper, up.delta(q.eps, 1)), max(a.Lower, low.delta(q.eps, -1))
		return a
	}
	above := func(eps float64) float64 { return up.delta(eps, 1) - q.delta }
	below := func(eps float64) float64 { return low.delta(eps, -1) - q.delta }
	if above(a.Upper) <= 0 {
		a.Upper = bisect(0, a.Upper, above)
	}
	// Far below the mean, the bound from below is 0.
	for eps := low.mean; q.lower && eps > max(a.Lower, low.mean-4*math.Sqrt(low.square)); {
		if eps < a.Upper && below(eps) >= 0 {
			a.Lower = bisect(eps, a.Upper, below)
			for below(a.Lower) < 0 { // the bisection returns the end at which it is negative
				a.Lower = max(eps, a.Lower*(1-1e-9))
			}
			break
		}
		eps -= math.Sqrt(low.square) / 64
	}
	return a
}

// bins returns losses and masses of P of a pair that lies below p: every cell is one output, with
// at most the mass of P and at least that of Q. What lies outside the cells is left out.
func (g *gridder) bins(p Pair, nodes []float64) (loss, mass []float64) {
	p.cut(nodes, &g.c)
	for i, e := range g.c.e {
		d, err, w := g.c.d[i], g.c.err[i], nodes[i+1]-nodes[i]
		m := max(0, e-err)/-math.Expm1(-w) + lowShare(max(0, d-err), w)
		other := lowShare(e+d+2*err, w) // e^node times the mass of Q
		if l := nodes[i] + math.Log(m/other); m > 0 && l > -600 {
			l -= 8 * ulp * (2 + math.Abs(l) + math.Abs(nodes[i])) // Q is larger
			loss, mass = append(loss, l), append(mass, m*(1-8*ulp))
		}
	}
	return loss, mass
}

// halved returns nodes with one more in the middle of each cell.
func halved(nodes []float64) []float64 {
	out := nodes[:1:1]
	for i, l := range nodes[1:] {
		out = append(out, nodes[i]/2+l/2, l)
	}
	return out
}
