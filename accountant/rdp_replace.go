package accountant

import (
	"math"

	"github.com/seed7ba64551/privgen/param"
)

// rdp of the glued curve: with u = r − 1 ≥ 0 above loss zero and its mirror image below, the moment minus one is
// ∫ φ(x)·((1+u)^α + (1+u)^{1−α} − 2 − u) dx over x > μ/2, an integrand that is never negative.
func (a gluedAtom) rdp(order float64) (float64, bool) {
	const points = 8
	width := min(0.5, 1.5/a.mu)
	end := order*a.mu + 13
	if !((end-a.mu/2)/width < 1<<11) {
		return order * a.mu * a.mu / 2 * (1 + 4*ulp), true // as if always sampled
	}
	panels := int((end-a.mu/2)/width) + 1
	width = (end - a.mu/2) / float64(panels)
	var sum logSum
	for i := range panels {
		lo := a.mu/2 + float64(i)*width
		for j := range points {
			for _, sign := range []float64{-1, 1} {
				x := lo + width/2*(1+sign*gaussNodes[j])
				sum.add(logGluedGap(a.q, a.mu*x-a.mu*a.mu/2, order) - x*x/2 + math.Log(gaussWeights[j]*width/2))
			}
		}
	}
	s := sum.value() - 0.5*math.Log(2*math.Pi)
	v := fromMomentMinusOne(s, order, 1e-11+1e-15*math.Abs(s))
	return min(v, order*a.mu*a.mu/2*(1+4*ulp)), true
}

// Nodes and weights of the 16-point Gauss–Legendre rule on (−1, 1), one side.
var gaussNodes = [8]float64{0.0950125098376374402, 0.2816035507792589132, 0.4580167776572273863, 0.6178762444026437484,
	0.7554044083550030339, 0.8656312023878317439, 0.9445750230732325761, 0.9894009349916499326}
var gaussWeights = [8]float64{0.1894506104550684963, 0.1826034150449235888, 0.1691565193950025382, 0.1495959888165767321,
	0.1246289712555338720, 0.0951585116824927848, 0.0622535239386478929, 0.0271524594117540949}

// logGluedGap is log((1+u)^α + (1+u)^{1−α} − 2 − u) for u = q(e^l − 1), l ≥ 0.
func logGluedGap(q, l, order float64) float64 {
	if l > 700 {
		return order * (math.Log(q) + l)
	}
	u := q * math.Expm1(l)
	if u*order < 1e-4 {
		// Second and third order: α(α−1)u² − α(α−1)u³/2·… ; the third-order terms of the two powers nearly cancel.
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

// RDPWithoutReplacement is Theorem 27 of Wang, Balle and Kasiviswanathan 2019 for a Gaussian on a subset of a fraction q of the records, under
// ReplaceOne, at an integer order (others are rounded up): a bound that is looser than what RDP returns, for comparison with
// other accountants.
func RDPWithoutReplacement(q, noiseMultiplier, order float64) (float64, error) {
	if err := probability("accountant.RDPWithoutReplacement.q", q); err != nil {
		return 0, err
	}
	if err := positive("accountant.RDPWithoutReplacement.noiseMultiplier", noiseMultiplier); err != nil {
		return 0, err
	}
	if !(order > 1 && order <= 4096) {
		return 0, param.New("accountant.RDPWithoutReplacement.order", order, "a number in (1, 4096]")
	}
	order = math.Ceil(order)
	mu := 1 / noiseMultiplier
	plain := order * mu * mu / 2
	if !(mu < 1e3) {
		return plain, nil // the sums below would be too long, and no smaller
	}
	if q == 0 || q == 1 {
		return q * plain, nil
	}
	e2 := mu * mu // the divergence of order 2
	var sum logSum
	logC := math.Log(order * (order - 1) / 2)
	sum.add(2*math.Log(q) + logC + min(math.Log(4)+logExpm1(e2), math.Log(2)+e2))
	even := map[float64]float64{}
	b := func(l float64) float64 {
		if _, ok := even[l]; !ok {
			even[l] = logCentralMoment(mu, l)
		}
		return even[l]
	}
	for j := 3.0; j <= order; j++ {
		logC += math.Log((order - j + 1) / j)
		exact := math.Log(4) + (b(2*math.Floor(j/2))+b(2*math.Ceil(j/2)))/2
		sum.add(j*math.Log(q) + logC + min(exact, math.Log(2)+(j-1)*j*mu*mu/2))
	}
	return min(plain, fromMomentMinusOne(sum.value(), order, 1e-11)), nil
}

// logCentralMoment is log E_Q[(dP/dQ − 1)^l] for N(μ,1) against N(0,1) and even l, where the integrand is never negative.
func logCentralMoment(mu, l float64) float64 {
	step := min(0.1, 0.5/mu)
	var sum logSum
	for x := -13.0; x <= l*mu+13; x += step {
		t := mu*x - mu*mu/2
		g := t
		if t < 36 {
			g = math.Log(math.Abs(math.Expm1(t)))
		}
		sum.add(l*g - x*x/2)
	}
	return sum.value() + math.Log(step) - 0.5*math.Log(2*math.Pi)
}
