package device

import "math"

// fma32 returns xy + z, rounded once, like the instructions of the vector kernels.
//
// The product of two float32 numbers is exact in float64, so the sum is rounded to float64 and then
// to float32; a compiler that fuses the two operations changes nothing. The first rounding is
// monotone, and every float32 number and every midpoint between two of them is a float64 number, so
// the sum cannot cross a midpoint. It can only become one (see doubtful), and there toOdd takes
// over.
func fma32(x, y, z float32) float32 {
	p, q := float64(x)*float64(y), float64(z)
	sum := p + q
	if doubtful(sum) {
		sum = toOdd(p, q)
	}
	return float32(sum)
}

// doubtful reports whether a float64 number may be the midpoint between two float32 numbers: its
// last 29 bits are those of the midpoint between normal numbers, or it is smaller than these and
// not zero.
func doubtful(sum float64) bool {
	bits := math.Float64bits(sum)
	return bits<<35 == 1<<63 || bits<<1-1 < 2*897<<52-1
}

// toOdd returns p + q rounded to odd: if the sum is not exact, the neighbour whose last bit is 1.
// Rounding that to float32 gives the correctly rounded sum (Boldo and Melquiond, "When double
// rounding is odd", 2005). Infinities and NaN remain: what they lost is NaN.
func toOdd(p, q float64) float64 {
	sum := p + q
	back := sum - p
	lost := (p - (sum - back)) + (q - back)
	bits := math.Float64bits(sum)
	if bits&1 == 0 && (lost > 0 || lost < 0) {
		if (lost > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
	}
	return math.Float64frombits(bits)
}
