package accountant

import "math"

// rdpSampledGaussian is the Rényi divergence D_α((1−q)N(0,1)+qN(μ,1) ‖ N(0,1)), the larger of the two directions
// (Mironov, Talwar and Zhang 2019, Theorem 5), rounded outward.
func rdpSampledGaussian(q, mu, order float64) float64 {
	if order == math.Floor(order) && order <= 1<<20 {
		return rdpInteger(q, mu, order)
	}
	if order > 1<<12 {
		// Divergences grow with the order: the next integer bounds what quadrature would have to resolve at great length.
		return rdpSampledGaussian(q, mu, math.Ceil(order))
	}
	return rdpFractional(q, mu, order)
}

// rdpInteger sums the binomial expansion with 1 subtracted from every term, Σ_{k≥2} C(α,k)(1−q)^{α−k}q^k (e^{k(k−1)μ²/2} − 1),
// because the moments of small q are 1 + 1e−13 and the digits are all behind the 1.
func rdpInteger(q, mu, order float64) float64 {
	var sum logSum
	logRest, logQ := math.Log1p(-q), math.Log(q)
	logC := math.Log(order)
	size := 0.0
	if !(order*order*mu*mu < 1e300) {
		return math.Inf(1)
	}
	for k := 2.0; k <= order; k++ {
		logC += math.Log((order - k + 1) / k)
		x := k * (k - 1) / 2 * mu * mu
		t := logC + (order-k)*logRest + k*logQ
		size = math.Max(size, math.Max(x, math.Abs(t)))
		sum.add(t + logExpm1(x))
	}
	return fromMomentMinusOne(sum.value(), order, 4e-16*(size+order+8))
}

// logExpm1 is log(e^x − 1) for x ≥ 0.
func logExpm1(x float64) float64 {
	if x > 40 {
		return x
	}
	return math.Log(math.Expm1(x))
}

// fromMomentMinusOne turns s = log(A−1) into log(A)/(α−1), with relative error rel of A−1 rounded outward.
func fromMomentMinusOne(s, order, rel float64) float64 {
	s += rel + 1e-15
	if s > 36 {
		return (s + math.Exp(-s)) / (order - 1) * (1 + 4e-16)
	}
	return math.Log1p(math.Exp(s)) / (order - 1) * (1 + 4e-16)
}

// logSum accumulates Σ exp(tᵢ) without overflow.
type logSum struct {
	top float64
	sum float64
	any bool
}

func (l *logSum) add(t float64) {
	switch {
	case math.IsInf(t, -1):
	case !l.any:
		l.top, l.sum, l.any = t, 1, true
	case t <= l.top:
		l.sum += math.Exp(t - l.top)
	default:
		l.sum = l.sum*math.Exp(l.top-t) + 1
		l.top = t
	}
}

func (l *logSum) value() float64 {
	if !l.any {
		return math.Inf(-1)
	}
	return l.top + math.Log(l.sum)
}

// rdpFractional integrates E_Q[r^α − 1 − α(r−1)] for r = 1 + q(e^{μx−μ²/2} − 1): the same moment minus one, because E_Q[r] = 1,
// with an integrand that is never negative. The trapezoid rule converges exponentially on such integrands; its step resolves both
// the normal density and the nearest singularity, at distance π/μ from the real line.
func rdpFractional(q, mu, order float64) float64 {
	step := math.Min(0.2, math.Pi/mu/6)
	lo, hi := -13.0, order*mu+13
	if !((hi-lo)/step < 1<<20) {
		return rdpInteger(q, mu, math.Ceil(order))
	}
	n := int((hi - lo) / step)
	var sum logSum
	for i := 0; i <= n; i++ {
		x := lo + float64(i)*step
		sum.add(logMomentGap(q, mu*x-mu*mu/2, order) - x*x/2)
	}
	s := sum.value() + math.Log(step) - 0.5*math.Log(2*math.Pi)
	return fromMomentMinusOne(s, order, 1e-12+1e-15*math.Abs(s))
}

// logMomentGap is log(r^α − 1 − α(r−1)) for r = 1 + q(e^l − 1).
func logMomentGap(q, l, order float64) float64 {
	if l > 700 {
		return order * (math.Log(q) + l)
	}
	u := q * math.Expm1(l)
	if math.Abs(u)*(order+1) < 1e-3 {
		// Binomial series from the quadratic term on: the difference would cancel.
		c := (order - 2) / 3 * u
		s := 1 + c*(1+(order-3)/4*u*(1+(order-4)/5*u*(1+(order-5)/6*u)))
		return 2*math.Log(math.Abs(u)) + math.Log(order*(order-1)/2*s)
	}
	p := order * math.Log1p(u)
	if p > 36 {
		return p + math.Log1p(-(1+order*u)*math.Exp(-p))
	}
	return math.Log(math.Max(math.Expm1(p)-order*u, 0))
}
