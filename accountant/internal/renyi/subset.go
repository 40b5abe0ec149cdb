package renyi

import "math"

// WithoutReplacement returns the bound of Theorem 27 of Wang, Balle and Kasiviswanathan 2019 under
// ReplaceOne. It is for a Gaussian on a subset of a fraction q of the records, at an integer order.
// Other orders are rounded up. The bound is looser than the value that accountant.RDP returns.
func WithoutReplacement(q, noiseMultiplier, order float64) float64 {
	order = math.Ceil(order)
	mu := 1 / noiseMultiplier
	plain := order * mu * mu / 2 * (1 + 8*ulp)
	if !(mu < 1e3) {
		return plain // the sums below would take too long and give no smaller bound
	}
	if q == 0 || q == 1 {
		return q * plain
	}
	e2 := mu * mu // the divergence of order 2
	var sum LogSum
	logC := math.Log(order * (order - 1) / 2)
	sum.Add(2*math.Log(q) + logC + min(math.Log(4)+LogExpm1(e2), math.Log(2)+e2))
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
		sum.Add(j*math.Log(q) + logC + min(exact, math.Log(2)+(j-1)*j*mu*mu/2))
	}
	return AtMost(plain, FromMomentMinusOne(sum.Value(), order, 1e-11))
}

// logCentralMoment returns log E_Q[(dP/dQ − 1)^l] for N(μ,1) against N(0,1) and even l, where the
// integrand is never negative.
func logCentralMoment(mu, l float64) float64 {
	step := min(0.1, 0.5/mu)
	var sum LogSum
	for x := -13.0; x <= l*mu+13; x += step {
		t := mu*x - mu*mu/2
		g := t
		if t < 36 {
			g = math.Log(math.Abs(math.Expm1(t)))
		}
		sum.Add(l*g - x*x/2)
	}
	return sum.Value() + math.Log(step) - 0.5*math.Log(2*math.Pi)
}
