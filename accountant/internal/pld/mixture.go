package pld

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// Mixture is the pair Σ wᵢ N(cᵢ, 1) against N(0, 1). The weight at c = 0 is common to both sides,
// so it is left out of differences.
type Mixture struct {
	rest          float64 // 1 − the weight at zero
	shift, weight []float64
	log           []float64 // of the weights
	far           float64   // largest shift
}

// NewMixture returns the pair with shifts sensitivities[i]/std and weights probabilities[i].
func NewMixture(std float64, sensitivities, probabilities []float64) *Mixture {
	p := &Mixture{}
	for i, s := range sensitivities {
		if s == 0 || probabilities[i] == 0 {
			continue
		}
		c := s / std
		p.shift = append(p.shift, c)
		p.weight = append(p.weight, probabilities[i])
		p.log = append(p.log, math.Log(probabilities[i]))
		p.rest += probabilities[i]
		p.far = max(p.far, c)
	}
	p.rest = min(p.rest, 1)
	return p
}

// Constant reports whether the two sides are the same, because every sensitivity with a positive
// probability is zero.
func (p *Mixture) Constant() bool { return len(p.shift) == 0 }

// lossAt returns log(w₀ + Σ wᵢ e^{cᵢx − cᵢ²/2}) and its derivative in x.
func (p *Mixture) lossAt(x float64) (l, slope float64) {
	var s renyi.LogSum
	s.Add(math.Log1p(-p.rest))
	gap := 0.0 // e^l − 1
	for i, c := range p.shift {
		u := c * (x - c/2) // c² may overflow
		s.Add(p.log[i] + u)
		gap += p.weight[i] * math.Expm1(u)
	}
	if l = s.Value(); math.Abs(gap) < 0.5 { // keeps the digits of a small loss
		l = math.Log1p(gap)
	}
	for i, c := range p.shift {
		slope += c * math.Exp(p.log[i]+c*(x-c/2)-l)
	}
	return l, slope
}

// pointAt inverts lossAt. It returns −∞ at and below the infimum of the losses.
func (p *Mixture) pointAt(l float64) float64 {
	if l <= math.Log1p(-p.rest) {
		return math.Inf(-1)
	}
	lo, hi := -60-p.far, 60+p.far
	x := p.far / 2
	for range 100 {
		v, slope := p.lossAt(x)
		if v <= l {
			lo = x
		} else { // v is NaN if several terms overflow
			hi = x
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

func (p *Mixture) plan(tail float64) []float64 {
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

func (p *Mixture) cut(nodes []float64, c *cells) {
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

func (p *Mixture) cell(a, b []side, lo, hi float64, c *cells, i int) {
	q, eq := between(a[0], b[0])
	sum, err := 0.0, 0.0
	for j, w := range p.weight {
		v, e := between(a[j+1], b[j+1])
		sum += w * v
		err += w * (e + 4*ulp*v)
	}
	// The inverse has an error of a few ulps of x, which moves the cell's ends. P and Q are counted
	// between the same ends.
	down, up := math.Expm1(lo)+p.rest, math.Expm1(hi)+p.rest
	c.e[i] = max(0, sum-down*q)
	c.d[i] = max(0, up*q-sum)
	c.err[i] = err + (math.Abs(down)+math.Abs(up))*(eq+4*ulp*q)
}

func (p *Mixture) low(a []side, l float64, c *cells) {
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

func (p *Mixture) top(a []side, l float64, c *cells) {
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
