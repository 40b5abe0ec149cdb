package renyi

import "math"

// SampledGaussian returns the Rényi divergence D_α((1−q)N(0,1)+qN(μ,1) ‖ N(0,1)), the larger of
// the two directions (Mironov, Talwar and Zhang 2019, Theorem 5), rounded outward.
func SampledGaussian(q, mu, order float64) float64 {
	if order > maxOrder {
		// A divergence is convex in the first distribution, so a sample diverges no more than the whole.
		return order * mu * mu / 2 * (1 + 4*ulp)
	}
	if order == math.Floor(order) {
		return sampledInteger(q, mu, order)
	}
	if order > 1<<12 {
		// Divergences grow with the order, so the next integer order gives a bound without a
		// quadrature of very many points.
		return SampledGaussian(q, mu, math.Ceil(order))
	}
	return sampledFractional(q, mu, order)
}

// maxOrder is the largest order whose binomial expansion is summed.
const maxOrder = 1 << 20

// sampledInteger sums the binomial expansion with 1 subtracted from every term, Σ_{k≥2}
// C(α,k)(1−q)^{α−k}q^k (e^{k(k−1)μ²/2} − 1). For small q the moments are near 1 + 1e−13, and all
// their information is in the digits after the 1.
func sampledInteger(q, mu, order float64) float64 {
	var sum LogSum
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
		sum.Add(t + LogExpm1(x))
	}
	return FromMomentMinusOne(sum.Value(), order, 4e-16*(size+order+8))
}

// mostPoints bounds the time of a quadrature. A sample that needs more points costs ε of thousands,
// within a few per cent of what the whole costs.
const mostPoints = 1 << 14

// sampledFractional integrates E_Q[r^α − 1 − α(r−1)] for r = 1 + q(e^{μx−μ²/2} − 1). This is the
// moment minus one, because E_Q[r] = 1, and the integrand is never negative. The trapezoid rule
// converges exponentially on such integrands. Its step resolves both the normal density and the
// nearest singularity, at distance π/μ from the real line.
func sampledFractional(q, mu, order float64) float64 {
	step := math.Min(0.2, math.Pi/mu/6)
	lo, hi := -13.0, order*mu+13
	if !((hi-lo)/step < mostPoints) {
		return AtMost(order*mu*mu/2*(1+4*ulp), sampledInteger(q, mu, math.Ceil(order)))
	}
	n := int((hi - lo) / step)
	var sum LogSum
	for i := 0; i <= n; i++ {
		x := lo + float64(i)*step
		sum.Add(LogMomentGap(q, mu*x-mu*mu/2, order) - x*x/2)
	}
	s := sum.Value() + math.Log(step) - 0.5*math.Log(2*math.Pi)
	return FromMomentMinusOne(s, order, 1e-12+1e-15*math.Abs(s))
}
