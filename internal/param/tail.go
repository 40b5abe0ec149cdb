package param

import "math"

// Erfcinv is [math.Erfcinv] for numbers up to 1, which may be tiny: that function is infinite below
// 1e-16.
func Erfcinv(p float64) float64 {
	x, hi := math.Erfcinv(p), 27.0
	if !math.IsInf(x, 1) {
		return x
	}
	for lo := 0.0; hi-lo > 1e-15*hi; {
		if mid := (lo + hi) / 2; math.Erfc(mid) > p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
