package renyi

import "math"

// BoundedRange returns an upper bound on the divergence of order α = order of every mechanism of
// bounded range ε = eps. The losses of such a mechanism, for any two neighbouring data sets, lie in
// an interval [t−ε, t] for some t.
//
// Consider all distributions of the ratio r = P/Q on [e^{t−ε}, e^t] with E_Q[r] = 1. The
// distribution on the two ends has the largest E_Q[r^α], because r^α is convex. (Dong, Durfee and
// Rogers 2020 prove the corresponding statement for every hockey-stick divergence.) With a = e^{−ε}
// and b = e^{−αε}, the value is e^{αt}·(b−a)/(1−a) + e^{(α−1)t}·(1−b)/(1−a). It is largest at e^t =
// (α−1)(1−b)/(α(a−b)). The divergence is also at most α·ε²/8 (Cesar and Rogers 2021) and at most ε.
// BoundedRange returns the least of the three bounds, because the first bound loses digits if ε is
// small.
func BoundedRange(eps, order float64) float64 {
	least := min(eps*(1+2*ulp), order*eps*eps/8*(1+8*ulp)+1e-300) // the square may underflow
	notA, notB := -math.Expm1(-eps), -math.Expm1(-order*eps)
	gap := math.Exp(-eps) * -math.Expm1(-(order-1)*eps) // a − b
	if !(gap > 0) {
		return least
	}
	logs := [4]float64{math.Log1p(-1 / order), math.Log(notB / gap), math.Log(notB / notA),
		math.Log(order)}
	v := logs[0] + logs[1] + (logs[2]-logs[3])/(order-1)
	// The error of each logarithm is at most a few ulps of its value plus a few ulps of one.
	slip := 8 * ulp *
		(2 + math.Abs(logs[0]) + math.Abs(logs[1]) + (2+math.Abs(logs[2])+logs[3])/(order-1))
	if v += slip; v >= 0 {
		least = min(least, v)
	}
	return least
}
