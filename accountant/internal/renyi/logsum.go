package renyi

import "math"

const ulp = 0x1p-52

// LogExpm1 returns log(e^x − 1) for x ≥ 0.
func LogExpm1(x float64) float64 {
	if x > 40 {
		return x
	}
	return math.Log(math.Expm1(x))
}

// FromMomentMinusOne returns log(A)/(α−1) for s = log(A−1), rounded outward by rel, a bound of
// the relative error of A−1.
func FromMomentMinusOne(s, order, rel float64) float64 {
	s += rel + 1e-15
	if s > 36 {
		return (s + math.Exp(-s)) / (order - 1) * (1 + 4e-16)
	}
	if s < -690 && !math.IsInf(s, -1) { // A−1 would underflow
		s = -690
	}
	return math.Log1p(math.Exp(s)) / (order - 1) * (1 + 4e-16)
}

// LogSum accumulates Σ exp(tᵢ) without overflow.
type LogSum struct {
	top float64
	sum float64
	any bool
}

// Add adds exp(t) to the sum.
func (l *LogSum) Add(t float64) {
	switch {
	case math.IsInf(t, -1):
	case !l.any:
		l.top, l.sum, l.any = t, 1, true
	case t <= l.top:
		if d := t - l.top; !(d < -60) { // a smaller term would not change a bit
			l.sum += math.Exp(d)
		}
	default:
		l.sum = l.sum*math.Exp(l.top-t) + 1
		l.top = t
	}
}

// Value returns the logarithm of the sum.
func (l *LogSum) Value() float64 {
	if !l.any {
		return math.Inf(-1)
	}
	return l.top + math.Log(l.sum)
}

// LogMomentGap returns log(r^α − 1 − α(r−1)) for r = 1 + q(e^l − 1).
func LogMomentGap(q, l, order float64) float64 {
	if l > 700 {
		return order * (math.Log(q) + l)
	}
	u := q * math.Expm1(l)
	if math.Abs(u)*(order+1) < 1e-3 {
		// Use the binomial series from the quadratic term on, because the difference would cancel.
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
