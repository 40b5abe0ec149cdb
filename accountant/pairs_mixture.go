package accountant

import "math"

type mixtureAtom struct{ GaussianMixture }

func (a mixtureAtom) pairs() *pairs {
	p := newMixturePair(a.GaussianMixture)
	if len(p.shift) == 0 {
		return &pairs{remove: &discretePair{loss: []float64{0}, mass: []float64{1}}}
	}
	return &pairs{remove: p, add: newMirrorPair(p)}
}

// mixturePair is Σ wᵢ N(cᵢ, 1) against N(0, 1). The share at c = 0 is common to both and never subtracted.
type mixturePair struct {
	rest          float64 // 1 − the weight at zero
	shift, weight []float64
	far           float64 // largest shift
}

func newMixturePair(v GaussianMixture) *mixturePair {
	p := &mixturePair{}
	for i, s := range v.Sensitivities {
		if s == 0 || v.Probabilities[i] == 0 {
			continue
		}
		c := s / v.NoiseMultiplier
		p.shift = append(p.shift, c)
		p.weight = append(p.weight, v.Probabilities[i])
		p.rest += v.Probabilities[i]
		p.far = max(p.far, c)
	}
	p.rest = min(p.rest, 1)
	return p
}

// lossAt is log(w₀ + Σ wᵢ e^{cᵢx − cᵢ²/2}) and its derivative.
func (p *mixturePair) lossAt(x float64) (l, slope float64) {
	var s logSum
	s.add(math.Log1p(-p.rest))
	for i, c := range p.shift {
		s.add(math.Log(p.weight[i]) + c*x - c*c/2)
	}
	l = s.value()
	for i, c := range p.shift {
		slope += c * math.Exp(math.Log(p.weight[i])+c*x-c*c/2-l)
	}
	return l, slope
}

// pointAt inverts lossAt; −∞ at and below its floor.
func (p *mixturePair) pointAt(l float64) float64 {
	if !(l > math.Log1p(-p.rest)) {
		return math.Inf(-1)
	}
	lo, hi := -60-p.far, 60+p.far
	x := p.far / 2
	for range 100 {
		v, slope := p.lossAt(x)
		if v > l {
			hi = x
		} else {
			lo = x
		}
		next := x - (v-l)/slope
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-x) <= 1e-15*(1+math.Abs(x)) {
			return next
		}
		x = next
	}
	return x
}

func (p *mixturePair) plan(tail float64) []float64 {
	if !(p.far < maxEffect) {
		return beyond()
	}
	x := normalQuantileUpper(tail)
	n := int((2*x+p.far)/0.15) + 2
	var nodes []float64
	for i := range n {
		l, _ := p.lossAt(-x + (2*x+p.far)*float64(i)/float64(n-1))
		if len(nodes) == 0 || l > nodes[len(nodes)-1] {
			nodes = append(nodes, l)
		}
	}
	return nodes
}

func (p *mixturePair) cut(nodes []float64, c *cells) {
	c.reset(len(nodes) - 1)
	k := len(p.shift)
	prev, now := make([]side, k+1), make([]side, k+1)
	for i, l := range nodes {
		x := p.pointAt(l)
		now[0] = pointSide(x)
		for j, s := range p.shift {
			now[j+1] = pointSide(x - s)
		}
		// L = log P/Q: P − e^l Q = Σ wᵢBᵢ − (e^l − 1 + rest)·A.
		if i == 0 {
			p.low(now, l, c)
		} else {
			p.cell(prev, now, nodes[i-1], l, c, i-1)
		}
		if i == len(nodes)-1 {
			p.top(now, l, c)
		}
		prev, now = now, prev
	}
}

func pointSide(x float64) side {
	if math.IsInf(x, -1) {
		return side{}
	}
	return normalSide(x)
}

func (p *mixturePair) cell(a, b []side, lo, hi float64, c *cells, i int) {
	q, eq := between(a[0], b[0])
	sum, err := 0.0, 0.0
	for j, w := range p.weight {
		v, e := between(a[j+1], b[j+1])
		sum += w * v
		err += w * (e + 4*ulp*v)
	}
	// The inverse is good to a few ulps of x, which moves the cell's ends; both were counted at the same ends.
	down, up := math.Expm1(lo)+p.rest, math.Expm1(hi)+p.rest
	c.e[i] = max(0, sum-down*q)
	c.d[i] = max(0, up*q-sum)
	c.err[i] = err + (math.Abs(down)+math.Abs(up))*(eq+4*ulp*q)
}

func (p *mixturePair) low(a []side, l float64, c *cells) {
	q := a[0].below()
	sum, err := 0.0, 0.0
	for j, w := range p.weight {
		sum += w * a[j+1].below()
		err += w * a[j+1].err
	}
	c.lowP = (1-p.rest)*q + sum
	c.lowD = max(0, (math.Expm1(l)+p.rest)*q-sum)
	c.lowErr = err + a[0].err + 8*ulp*c.lowP
}

func (p *mixturePair) top(a []side, l float64, c *cells) {
	c.topQ = a[0].above()
	sum, err := 0.0, 0.0
	for j, w := range p.weight {
		sum += w * a[j+1].above()
		err += w * a[j+1].err
	}
	k := math.Expm1(l) + p.rest
	c.topE = max(0, sum-k*c.topQ)
	c.topErr = err + math.Abs(k)*a[0].err + 8*ulp*sum
}

// rdp integrates both directions by the trapezoid rule: E_Q[r^α] and E_P[r^{−α}], each minus one.
func (a mixtureAtom) rdp(order float64) (float64, bool) {
	p := newMixturePair(a.GaussianMixture)
	if len(p.shift) == 0 {
		return 0, true
	}
	plain := order * p.far * p.far / 2 * (1 + 4*ulp) // as if the largest sensitivity were certain
	lo, hi := -13-order*p.far, order*p.far+13
	step := min(0.1, math.Pi/p.far/8)
	if !((hi-lo)/step < 1<<14) {
		return plain, true
	}
	var fwd, back logSum
	for x := lo; x <= hi; x += step {
		l, _ := p.lossAt(x)
		fwd.add(logMomentGap(1, l, order) - x*x/2)
		back.add(logMomentGap(1, -l, order) + l - x*x/2)
	}
	s := max(fwd.value(), back.value()) + math.Log(step) - 0.5*math.Log(2*math.Pi)
	return min(plain, fromMomentMinusOne(s, order, 1e-10+1e-15*math.Abs(s))), true
}
