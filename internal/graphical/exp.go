package graphical

import "math"

// lowest is the number that replaces the logarithm of zero.
const lowest = -1e5

// exp returns e^x for x ≤ 0, with a relative error below 1e-9, and 0 for x ≤ −700 and NaN.
// Potentials are sums of many rounded numbers, so more digits would not be meaningful.
func exp(x float64) float64 {
	if !(x > -700) {
		return 0
	}
	const log2e, hi, lo = math.Log2E, 6.93147180369123816490e-01, 1.90821492927058770002e-10
	k := math.Floor(x*log2e + 0.5)
	r := x - k*hi - k*lo // |r| ≤ log(2)/2
	p := 1 + r*(1+r*(1.0/2+r*(1.0/6+r*(1.0/24+r*(1.0/120+r*(1.0/720+r*(1.0/5040+
		r*(1.0/40320))))))))
	return p * math.Float64frombits(uint64(int64(k)+1023)<<52)
}
