package renyi

import "math"

// BoundedRange returns the largest divergence of a mechanism of bounded range eps: one whose
// losses, for any two neighbouring data sets, lie in an interval [t−ε, t] for some t.
//
// Of all distributions of the ratio r = P/Q on [e^{t−ε}, e^t] with E_Q[r] = 1 the one on the two
// ends has the largest E_Q[r^α], because r^α is convex (Dong, Durfee and Rogers 2020 prove the same
// for every hockey-stick divergence). With a = e^{−ε} and b = e^{−αε} that is e^{αt}·(b−a)/(1−a) +
// e^{(α−1)t}·(1−b)/(1−a), which is largest at e^t = (α−1)(1−b)/(α(a−b)). It is never more than
// α·ε²/8 (Cesar and Rogers 2021) nor than ε, and the least of the three is returned: the first
// loses digits where ε is small.
func BoundedRange(eps, order float64) float64 {
	least := min(eps*(1+2*ulp), order*eps*eps/8*(1+8*ulp))
	notA, notB := -math.Expm1(-eps), -math.Expm1(-order*eps)
	gap := math.Exp(-eps) * -math.Expm1(-(order-1)*eps) // a − b
	if !(gap > 0) {
		return least
	}
	logs := [4]float64{math.Log1p(-1 / order), math.Log(notB / gap), math.Log(notB / notA),
		math.Log(order)}
	v := logs[0] + logs[1] + (logs[2]-logs[3])/(order-1)
	// Every logarithm is good to a few ulps of itself and of one.
	slip := 8 * ulp *
		(2 + math.Abs(logs[0]) + math.Abs(logs[1]) + (2+math.Abs(logs[2])+logs[3])/(order-1))
	if v += slip; v >= 0 {
		least = min(least, v)
	}
	return least
}
