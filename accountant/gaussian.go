package accountant

import "math"

// gaussianDelta is δ(ε) of N(μ,1) against N(0,1): Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ). Source: Balle and Wang 2018, Theorem 8.
// Both terms are written with the scaled complementary error function, so that they share the small factor and their difference
// keeps its digits in the tail.
func gaussianDelta(mu, eps float64) float64 {
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

// gaussianDeltaError bounds the error of gaussianDelta: some ulps of P beyond the point where the loss is ε, whose own rounding shifts it too. For a small
// effect it is far more than an ulp of δ, which is the difference of two nearly equal probabilities.
func gaussianDeltaError(mu, eps float64) float64 {
	x := eps/mu - mu/2
	p := normalSide(x)
	return 4*p.err + ulp*(8*p.above()+2*(eps/mu+mu/2)*math.Exp(-x*x/2)) + 1e-300
}

// erfcx is e^{x²} erfc(x).
func erfcx(x float64) float64 {
	if x < 20 {
		return math.Exp(x*x) * math.Erfc(x)
	}
	// Asymptotic series; at x = 20 its fifth term is below 1e−12 and the sixth below 1e−14.
	t := 1 / (2 * x * x)
	return (1 - t*(1-3*t*(1-5*t*(1-7*t*(1-9*t))))) / (x * math.Sqrt(math.Pi))
}

// bisect finds the crossing of a decreasing f: the smallest tested x in (lo, hi] with f(x) ≤ 0; hi must satisfy it.
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
