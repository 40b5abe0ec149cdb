package pld

import "math"

// A sketch is a coarse loss distribution of each term. It determines the tilt, the window and the
// grid of a composition, and is never published.
type sketch struct {
	terms []sketchTerm
	total float64 // Σ counts
}

type sketchTerm struct {
	n          float64
	loss, mass []float64
	logMass    []float64
	end        []float64 // upper end of the cell that each mass is merged from
	lo, hi     float64
}

func newSketch(n []int, p []Pair, tail float64) sketch {
	var s sketch
	var c cells
	for i, q := range p {
		nodes := q.plan(tail)
		q.cut(nodes, &c)
		// Where a curve has become flat, all that is left is its error. A finer cut would have it, too.
		for j := len(c.e) - 1; j > 0 && c.topQ == 0 && c.err[j] > 0 && c.e[j]+c.d[j] <= c.err[j]; j-- {
			nodes, c.e = nodes[:j+1], c.e[:j]
		}
		t := sketchTerm{n: float64(n[i]), lo: nodes[0], hi: nodes[len(nodes)-1]}
		if c.lowP > 1e-3 { // the first node stands for a loss near it
			t.loss, t.mass, t.end = []float64{t.lo}, []float64{c.lowP}, []float64{t.lo}
		}
		for j := range c.e {
			w := nodes[j+1] - nodes[j]
			m := (c.e[j] + math.Exp(-w)*c.d[j]) / -math.Expm1(-w)
			if !(m > 0 && m < 2) {
				continue
			}
			// The loss of the merged cell: log P/Q with P/Q = e^{n_j}·m/(m−e) = e^{n_j+w}·m/(m+d).
			l := nodes[j] - math.Log1p(-min(c.e[j]/m, 1-1e-16))
			if c.e[j] > (1-1e-10)*m {
				l = nodes[j+1] - math.Log1p(c.d[j]/m)
			}
			t.loss = append(t.loss, min(nodes[j+1], max(nodes[j], l)))
			t.mass = append(t.mass, m)
			t.end = append(t.end, nodes[j+1])
		}
		if m := math.Exp(t.hi) * c.topQ; m > 0 { // mass above the last node goes to that node
			t.loss, t.mass, t.end = append(t.loss, t.hi), append(t.mass, m), append(t.end, t.hi)
		}
		if len(t.loss) == 0 {
			t.loss, t.mass, t.end = []float64{nodes[0]}, []float64{1}, []float64{nodes[0]}
		}
		for _, m := range t.mass {
			t.logMass = append(t.logMass, math.Log(m))
		}
		s.terms = append(s.terms, t)
		s.total += t.n
	}
	return s
}

// cumulants returns K(θ) = Σ nᵢ log E[e^{θLᵢ}] and its first two derivatives.
func (s *sketch) cumulants(theta float64) (k, k1, k2 float64) {
	for i := range s.terms {
		t := &s.terms[i]
		top := math.Inf(-1)
		for j, l := range t.loss {
			top = max(top, t.logMass[j]+theta*l)
		}
		var s0, s1, s2 float64
		for j, l := range t.loss {
			x := t.logMass[j] + theta*l - top
			if x < -60 {
				continue
			}
			w := math.Exp(x)
			s0 += w
			s1 += w * l
			s2 += w * l * l
		}
		m := s1 / s0
		k += t.n * (top + math.Log(s0))
		k1 += t.n * m
		k2 += t.n * max(0, s2/s0-m*m)
	}
	return k, k1, k2
}

// saddle approximates log δ(ε) at ε = K′(θ). The tilted sum is nearly normal there, with standard
// deviation sd.
func (s *sketch) saddle(theta float64) (logDelta, eps, sd float64) {
	k, k1, k2 := s.cumulants(theta)
	sd = math.Sqrt(k2)
	return k - theta*k1 + math.Log(normalHockey(theta, sd)), k1, sd
}

// logDeltaAt approximates log δ(ε) at the tilt theta, which may be smaller than the tilt with K′(θ)
// = ε.
func (s *sketch) logDeltaAt(theta, eps float64) float64 {
	d, _, _ := s.saddle(theta)
	k, _, _ := s.cumulants(theta)
	return min(d, k-theta*eps)
}

// renyi returns approximately the least ε that Rényi divergences prove at δ. It tries orders near
// θ+1, where the best order usually lies.
func (s *sketch) renyi(theta, delta float64) float64 {
	best := math.Inf(1)
	for _, t := range []float64{0.6, 0.8, 1, 1.25, 1.6, 3, 10} {
		if t *= theta; t > 0.01 {
			k, _, _ := s.cumulants(t)
			best = min(best, (k-math.Log(delta)+t*math.Log(t)-(t+1)*math.Log1p(t))/t)
		}
	}
	return max(0, best)
}

// normalHockey returns E[e^{−θY}(1−e^{−Y})₊] for Y normal with mean 0 and deviation sd.
func normalHockey(theta, sd float64) float64 {
	a, b := theta*sd/math.Sqrt2, (theta+1)*sd/math.Sqrt2
	if sd < 1e-3*(1+a) { // the difference would cancel: use the derivative
		const d = 1e-4
		return 0.5 * (erfcx(a) - erfcx(a+d*(1+a))) / (d * (1 + a)) * (b - a)
	}
	return max(0.5*(erfcx(a)-erfcx(b)), 1e-300)
}

// tiltFor returns the θ ≥ 0 whose saddle approximation gives the wanted δ.
func (s *sketch) tiltFor(logDelta float64) float64 {
	top := s.top()
	return solveTilt(func(theta float64) (float64, bool) {
		d, k1, _ := s.saddle(theta)
		return d - logDelta, top.near(theta, k1)
	})
}

// tiltAt returns the θ ≥ 0 with K′(θ) = ε.
func (s *sketch) tiltAt(eps float64) float64 {
	top := s.top()
	return solveTilt(func(theta float64) (float64, bool) {
		k, k1, _ := s.cumulants(theta)
		return eps - k1, top.near(theta, k1) || k-theta*eps < leastLogDelta
	})
}

// leastLogDelta is the logarithm of a δ so small that its tilt does not matter.
const leastLogDelta = -300

// sumTop holds the largest possible sum, and its distance above the mean of the untilted sum.
type sumTop struct{ most, above float64 }

func (s *sketch) top() sumTop {
	sum := 0.0
	for i := range s.terms {
		sum += s.terms[i].n * s.terms[i].loss[len(s.terms[i].loss)-1]
	}
	_, mean, _ := s.cumulants(0)
	return sumTop{sum, sum - mean}
}

// near reports whether the tilted mean is near the largest sum and the tilt is large. A larger tilt
// then changes almost nothing.
func (t sumTop) near(theta, mean float64) bool {
	return theta*(t.most-mean) < 0.05 && theta*t.above > 5
}

// solveTilt returns the zero of a decreasing f on [0, ∞) to about one part in a thousand. It
// returns 0 if f(0) is not positive. f also reports whether a larger tilt is useless.
func solveTilt(f func(theta float64) (v float64, enough bool)) float64 {
	lo := 0.0
	flo, _ := f(0)
	if !(flo > 0) {
		return 0
	}
	hi := 1.0
	fhi, enough := f(hi)
	for fhi > 0 {
		lo, flo = hi, fhi
		hi *= 4
		if enough || hi > 1e9 {
			return lo
		}
		fhi, enough = f(hi)
	}
	for i := 0; i < 40 && hi-lo > 1e-3*hi; i++ {
		// Steps of false position, guarded by bisection.
		x := (lo*fhi - hi*flo) / (fhi - flo)
		if !(x > lo+0.02*(hi-lo) && x < hi-0.02*(hi-lo)) || i%3 == 2 {
			x = lo + (hi-lo)/2
		}
		if v, _ := f(x); v > 0 {
			lo, flo = x, v
		} else {
			hi, fhi = x, v
		}
	}
	return lo
}

// reach returns the point at. At most exp(logTail) of the tilted sum's mass lies above it (sign +1)
// or below it (sign −1). Chernoff's bound on the sketch gives the point; lambda is the change of
// tilt in that bound.
func (s *sketch) reach(theta, sd, logTail, sign float64) (at, lambda float64) {
	k0, k1, _ := s.cumulants(theta)
	best := math.Inf(1)
	widest := sd
	for i := range s.terms {
		widest = max(widest, s.terms[i].hi-s.terms[i].lo)
	}
	for l := 0.25 / max(widest, 1e-300); l < 64/max(sd, 1e-300); l *= 1.7 {
		k, _, _ := s.cumulants(theta + sign*l)
		if r := (k - k0 - logTail) / l; r < best {
			best, lambda = r, l
		} else if r > 1.5*math.Abs(best)+math.Abs(k1) {
			break
		}
	}
	return sign * best, lambda
}
