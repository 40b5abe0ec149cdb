package renyi

import "math"

// Glued returns the divergence of the glued curve of a Gaussian of effect mu on a sample of rate q.
// Let u = r − 1 ≥ 0 for losses above zero; the losses below zero mirror them. The moment minus one
// is ∫ φ(x)·((1+u)^α + (1+u)^{1−α} − 2 − u) dx over x > μ/2. The integrand is never negative.
func Glued(q, mu, order float64) float64 {
	const points = 8
	width := min(0.5, 1.5/mu)
	end := order*mu + 13
	if !((end-mu/2)/width < 1<<11) {
		return order * mu * mu / 2 * (1 + 4*ulp) // the value for q = 1
	}
	panels := int((end-mu/2)/width) + 1
	width = (end - mu/2) / float64(panels)
	var sum LogSum
	var logs [points]float64
	for j := range logs {
		logs[j] = math.Log(gaussWeights[j] * width / 2)
	}
	for i := range panels {
		lo := mu/2 + float64(i)*width
		for j := range points {
			for _, sign := range []float64{-1, 1} {
				x := lo + width/2*(1+sign*gaussNodes[j])
				sum.Add(logGluedGap(q, mu*x-mu*mu/2, order) - x*x/2 + logs[j])
			}
		}
	}
	s := sum.Value() - 0.5*math.Log(2*math.Pi)
	v := FromMomentMinusOne(s, order, 1e-11+1e-15*math.Abs(s))
	return AtMost(order*mu*mu/2*(1+4*ulp), v)
}

// gaussNodes and gaussWeights are the positive nodes of the 16-point Gauss–Legendre rule on (−1, 1)
// and their weights.
var gaussNodes = [8]float64{0.0950125098376374402, 0.2816035507792589132, 0.4580167776572273863,
	0.6178762444026437484,
	0.7554044083550030339, 0.8656312023878317439, 0.9445750230732325761, 0.9894009349916499326}
var gaussWeights = [8]float64{0.1894506104550684963, 0.1826034150449235888, 0.1691565193950025382,
	0.1495959888165767321,
	0.1246289712555338720, 0.0951585116824927848, 0.0622535239386478929, 0.0271524594117540949}

// logGluedGap returns log((1+u)^α + (1+u)^{1−α} − 2 − u) for u = q(e^l − 1), l ≥ 0.
func logGluedGap(q, l, order float64) float64 {
	if l > 700 {
		return order * (math.Log(q) + l)
	}
	u := q * math.Expm1(l)
	if u*order < 1e-4 {
		// The series is c·u²·(1 − u/2 + (c+4)·u²/12 − …) with c = α(α−1). The coefficient of the last
		// term is rounded up.
		c := order * (order - 1)
		return 2*math.Log(u) + math.Log(c*(1-0.5*u+c*u*u/12+u*u))
	}
	p := order * math.Log1p(u)
	if p > 36 {
		return p
	}
	m := (order - 1) * math.Log1p(u)
	return math.Log(max(0, math.Expm1(p)+math.Expm1(-m)-u))
}
