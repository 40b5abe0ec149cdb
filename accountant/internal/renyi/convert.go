package renyi

import (
	"math"
	"sync"
)

// Orders returns the orders at which conversions are tried: dense below 11, all integers up to 256,
// and geometric above. The caller must not change the slice.
func Orders() []float64 { return orders() }

var orders = sync.OnceValue(func() []float64 {
	orders := []float64{1.01, 1.02, 1.03, 1.05, 1.07}
	for i := 11; i < 110; i++ {
		orders = append(orders, float64(i)/10)
	}
	for i := 11; i <= 256; i++ {
		orders = append(orders, float64(i))
	}
	for x := 256 * math.Sqrt2; x <= 70000; x *= math.Sqrt2 {
		orders = append(orders, math.Round(x))
	}
	return orders
})

// Epsilon converts the divergence of one order to ε at delta. Below order 1.01 the bound's terms
// are too large to be useful and too sensitive to rounding. If δ² > 1−exp(−ρ), total variation
// alone gives ε = 0 (Bretagnolle and Huber).
func Epsilon(order, rdp, delta float64) float64 {
	if !(rdp >= 0) || !(delta > 0) {
		return math.Inf(1)
	}
	if delta*delta*(1-4*ulp) > -math.Expm1(-rdp) {
		return 0
	}
	if order <= 1.01 {
		return math.Inf(1)
	}
	eps := rdp + math.Log1p(-1/order) - (math.Log(delta)+math.Log(order))/(order-1)
	// The logarithms have errors of an ulp or two; the margin keeps the bound sound.
	return AtMost(math.Inf(1), math.Max(0, eps+4e-16*(math.Abs(eps)+rdp+40/(order-1))))
}

// Delta converts the divergence of one order to δ at eps. It solves the bound of Epsilon for δ.
func Delta(order, rdp, eps float64) float64 {
	if !(rdp >= 0) {
		return 1
	}
	d := math.Sqrt(-math.Expm1(-rdp))
	if order > 1.01 {
		x := (order - 1) * (rdp - eps + math.Log1p(-1/order))
		d = math.Min(d, math.Exp(x)/order*(1+1e-15*(math.Abs(x)+(order-1)*(rdp+eps)+4)))
	}
	return AtMost(1, d*(1+1e-15))
}

// AtMost returns x, or most if x is larger or NaN. Every upper end passes through it: a value that
// is no number proves nothing, so it must not appear as a small price.
func AtMost(most, x float64) float64 {
	if x <= most {
		return x
	}
	return most
}
