package accountant

import "math"

// addUp returns the least float64 that is not below a + b, for numbers that are not negative. The
// rounding error of a sum is a float64 itself.
// Source: Knuth, "The Art of Computer Programming", volume 2, section 4.2.2, Theorem B.
func addUp(a, b float64) float64 {
	s := a + b
	part := s - a
	return correctedUp(s, (a-(s-part))+(b-part))
}

// timesUp returns a number that is not below n·x, for an x that is not negative. It is the least
// such float64 if n is at most 2^53. A product of whole multiples of 2^-1074 is such a multiple, so
// its rounding error is one, too, and does not underflow.
func timesUp(n int, x float64) float64 {
	times := float64(n)
	if int64(n) > 1<<53 {
		times = math.Nextafter(times, math.Inf(1))
	}
	p := times * x
	return correctedUp(p, math.FMA(times, x, -p))
}

// inverseUp returns the least float64 that is not below 1/x, for an x between 2^-1000 and 2^1000,
// and a number that is not below 1/x for any other positive x.
func inverseUp(x float64) float64 {
	q := 1 / x
	if !(x >= 0x1p-1000 && x <= 0x1p1000) {
		return math.Nextafter(q, math.Inf(1))
	}
	return correctedUp(q, math.FMA(-q, x, 1))
}

// correctedUp returns the float64 above x if the exact number is larger than x.
func correctedUp(x, missing float64) float64 {
	if missing > 0 {
		return math.Nextafter(x, math.Inf(1))
	}
	return x
}
