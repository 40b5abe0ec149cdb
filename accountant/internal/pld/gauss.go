package pld

import "math"

// GaussianDelta returns δ(ε) of N(μ,1) against N(0,1): Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ). Source:
// Balle and Wang 2018, Theorem 8. Both terms use the scaled complementary error function. So they
// share the small factor, and their difference keeps its digits in the tail.
func GaussianDelta(mu, eps float64) float64 {
	if math.IsInf(mu, 1) {
		return 1
	}
	a := (eps/mu - mu/2) / math.Sqrt2
	b := (eps/mu + mu/2) / math.Sqrt2
	if math.IsInf(a, 1) || math.IsInf(b, 1) {
		return 0
	}
	if b < 0 {
		return math.Max(0, math.Erfc(a)/2-math.Exp(eps)*math.Erfc(b)/2)
	}
	if a <= 0 {
		return math.Max(0, math.Erfc(a)/2-0.5*erfcx(b)*math.Exp(-a*a))
	}
	return math.Max(0, 0.5*math.Exp(-a*a)*(erfcx(a)-erfcx(b)))
}

// GaussianDeltaError bounds the error of GaussianDelta. The error is a few ulps of the mass of P
// above the point where the loss is ε, plus the effect of the rounding of that point. For a small
// mu the bound is far above an ulp of δ, because δ is the difference of two nearly equal
// probabilities.
func GaussianDeltaError(mu, eps float64) float64 {
	x := eps/mu - mu/2
	if x > 40 { // both probabilities underflow
		return 1e-300
	}
	p := normalSide(x)
	return 4*p.err + ulp*(8*p.above()+2*(eps/mu+mu/2)*math.Exp(-x*x/2)) + 1e-300
}

// erfcx returns e^{x²} erfc(x).
func erfcx(x float64) float64 {
	if x < 20 {
		return math.Exp(x*x) * math.Erfc(x)
	}
	// Asymptotic series; at x = 20 its fifth term is below 1e−12 and the sixth below 1e−14.
	t := 1 / (2 * x * x)
	return (1 - t*(1-3*t*(1-5*t*(1-7*t*(1-9*t))))) / (x * math.Sqrt(math.Pi))
}

// bisect returns the crossing of a decreasing f: the smallest tested x in (lo, hi] with f(x) ≤ 0.
// f(hi) must be at most 0.
func bisect(lo, hi float64, f func(float64) float64) float64 {
	for i := 0; i < 200; i++ {
		mid := lo + (hi-lo)/2
		if !(mid > lo && mid < hi) {
			break
		}
		if f(mid) <= 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// Gauss is the pair N(μ,1) against N(0,1), with loss L = μx − μ²/2.
type Gauss struct{ Mu float64 }

// beyond returns a plan that marks losses as too large for floating point.
func beyond() []float64 { return []float64{-1e4, 1e4} }

// maxEffect is the largest effect whose losses can be planned; beyond it ε is in the hundreds.
const maxEffect = 40

func (p Gauss) plan(tail float64) []float64 {
	if !(p.Mu < maxEffect) {
		return beyond()
	}
	x := normalQuantileUpper(tail)
	n := int((2*x+p.Mu)/0.15) + 2
	nodes := make([]float64, n)
	for i := range nodes {
		nodes[i] = p.Mu*(-x+(2*x+p.Mu)*float64(i)/float64(n-1)) - p.Mu*p.Mu/2
	}
	return nodes
}

// side holds the smaller tail of a standard normal distribution at a point, so that differences
// keep relative precision on both sides.
type side struct {
	tail float64
	// err bounds the absolute error: an ulp or two of erfc, and the effect of the rounding of x,
	// |x|·ulp·φ(x) ≤ (x²+1)·ulp·tail.
	err   float64
	upper bool // tail is the probability above the point
}

func normalSide(x float64) side {
	tail := math.Erfc(math.Abs(x)/math.Sqrt2) / 2
	if tail == 0 { // x² may overflow
		return side{0, 0, x >= 0}
	}
	return side{tail, (3 + 2*x*x) * ulp * tail, x >= 0}
}

func (a side) above() float64 {
	if a.upper {
		return a.tail
	}
	return 1 - a.tail
}

func (a side) below() float64 {
	if a.upper {
		return 1 - a.tail
	}
	return a.tail
}

// between returns the probability from a to b ≥ a, and an absolute error bound.
func between(a, b side) (v, err float64) {
	switch {
	case a.upper:
		return max(0, a.tail-b.tail), a.err + b.err
	case b.upper:
		return 1 - a.tail - b.tail, a.err + b.err + ulp
	}
	return max(0, b.tail-a.tail), a.err + b.err
}

func (p Gauss) cut(nodes []float64, c *cells) {
	c.reset(len(nodes) - 1)
	var q0, p0 side
	var grow0 float64
	for i, l := range nodes {
		x := l/p.Mu + p.Mu/2
		q1, p1, grow1 := normalSide(x), normalSide(x-p.Mu), math.Exp(l)
		if i == 0 {
			c.lowP = p1.below()
			c.lowD = max(0, grow1*q1.below()-c.lowP)
			c.lowErr = p1.err + grow1*q1.err + 4*ulp*(c.lowP+grow1*q1.below())
		} else {
			a, ea := between(q0, q1)
			b, eb := between(p0, p1)
			c.e[i-1] = max(0, b-grow0*a)
			c.d[i-1] = max(0, grow1*a-b)
			c.err[i-1] = eb + grow1*ea + 2*ulp*b
		}
		if i == len(nodes)-1 {
			c.topQ = q1.above()
			c.topE = max(0, GaussianDelta(p.Mu, l))
			c.topErr = 4*p1.err + 8*ulp*p1.above() + 1e-300
		}
		q0, p0, grow0 = q1, p1, grow1
	}
}

// normalQuantileUpper returns x with P(N > x) ≈ p, for p ≤ 1/2. The result only places nodes, so
// soundness does not depend on its last digits.
func normalQuantileUpper(p float64) float64 {
	if p = min(p, 0.5); !(p >= 1e-300) {
		p = 1e-300
	}
	x := math.Sqrt(-2 * math.Log(2*p))
	for range 8 { // Newton's method on the logarithm, which is nearly quadratic in x
		t := math.Erfc(x/math.Sqrt2) / 2
		density := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
		x += (math.Log(t) - math.Log(p)) * t / density
		x = max(x, 0)
	}
	return x
}

// GaussianEpsilon brackets the smallest ε ≥ 0 with δ(ε) ≤ delta of N(μ,1) against N(0,1).
func GaussianEpsilon(mu, delta float64) (lower, estimate, upper float64) {
	if math.IsInf(mu, 1) {
		return 0, mu, mu
	}
	above := func(x float64) float64 {
		return GaussianDelta(mu, x) + GaussianDeltaError(mu, x) - delta
	}
	below := func(x float64) float64 {
		return GaussianDelta(mu, x) - GaussianDeltaError(mu, x) - delta
	}
	if above(0) <= 0 {
		return 0, 0, 0
	}
	hi := 1.0
	for !(above(hi) <= 0) {
		if hi *= 2; hi > 1e300 {
			return 0, math.Inf(1), math.Inf(1)
		}
	}
	upper = bisect(0, hi, above)*(1+1e-12) + 1e-300
	if below(0) > 0 {
		lower = bisect(0, hi, below) * (1 - 1e-12)
	}
	return lower, lower + (upper-lower)/2, upper
}
