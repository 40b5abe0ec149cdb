package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Vectors of this file are eight float32. Every function handles NaN, infinities, zeros and subnormal
// numbers; what it makes of a number does not depend on where in the vector it stands.

var c constants

func vector() {
	elementwise("exp", exp)
	elementwise("log", logarithm)
	elementwise("tanh", tanh)
	elementwise("sigmoid", sigmoid)
	elementwise("softplus", softplus)
	elementwise("relu", relu)
	elementwise("leaky", leaky)
	gradient("relu", reluGradient)
	gradient("leaky", leakyGradient)
	gradient("tanh", tanhGradient)
	gradient("sigmoid", sigmoidGradient)
	gradient("softplus", softplusGradient)
	gradient("exp", func(d, y VecVirtual) { VMULPS(y, d, d) })
	gradient("log", func(d, y VecVirtual) { VMULPS(exp(negate(y)), d, d) })
	binary("mul", func(a, b VecVirtual) { VMULPS(b, a, a) })
	binary("sub", func(a, b VecVirtual) { VSUBPS(b, a, a) })
	axpy()
	scale()
	cosSin()
	dot()
	squares()
	adam()
	gather()
	scatter()
	c.write()
	writeTailMask()
}

func load(m Mem) VecVirtual {
	x := YMM()
	VMOVUPS(m, x)
	return x
}

func copyOf(x VecVirtual) VecVirtual {
	y := YMM()
	VMOVAPS(x, y)
	return y
}

func add(a VecVirtual, b Op) VecVirtual { y := YMM(); VADDPS(b, a, y); return y }
func sub(a VecVirtual, b Op) VecVirtual { y := YMM(); VSUBPS(b, a, y); return y }
func mul(a VecVirtual, b Op) VecVirtual { y := YMM(); VMULPS(b, a, y); return y }
func div(a VecVirtual, b Op) VecVirtual { y := YMM(); VDIVPS(b, a, y); return y }
func and(a VecVirtual, b Op) VecVirtual { y := YMM(); VANDPS(b, a, y); return y }
func or(a VecVirtual, b Op) VecVirtual  { y := YMM(); VORPS(b, a, y); return y }
func xor(a VecVirtual, b Op) VecVirtual { y := YMM(); VXORPS(b, a, y); return y }

// blend is b where mask's sign is set and a elsewhere.
func blend(a VecVirtual, b Op, mask VecVirtual) VecVirtual {
	y := YMM()
	VBLENDVPS(mask, b, a, y)
	return y
}

func compare(predicate uint64, a VecVirtual, b Op) VecVirtual {
	y := YMM()
	VCMPPS(U8(predicate), b, a, y)
	return y
}

const (
	less      = 0x11 // ordered, quiet
	lessEqual = 0x12
	equal     = 0x00
)

func absolute(x VecVirtual) VecVirtual { return and(x, c.bits(0x7fffffff)) }
func negate(x VecVirtual) VecVirtual   { return xor(x, c.bits(0x80000000)) }
func one() VecVirtual                  { return load(c.f(1)) }

// polynomial is Σ coefficients[i] zⁱ.
func polynomial(z VecVirtual, coefficients ...float64) VecVirtual {
	last := len(coefficients) - 1
	y := load(c.f(coefficients[last]))
	for i := last - 1; i >= 0; i-- {
		VFMADD213PS(c.f(coefficients[i]), z, y)
	}
	return y
}

// exp is eˣ = 2ⁿ eʳ with |r| ≤ ½ log 2. The power of two is applied in two halves, so that results may be subnormal
// and overflow becomes infinity. The polynomial's coefficients are those of Cephes (Moshier).
func exp(x VecVirtual) VecVirtual {
	// The minimum of a bound and NaN is the second operand, NaN.
	limited := YMM()
	high, low := load(c.f(89)), load(c.f(-105))
	VMINPS(x, high, limited)
	VMAXPS(limited, low, limited)
	n := mul(limited, c.f(math.Log2E))
	VROUNDPS(U8(8), n, n)
	r := copyOf(limited)
	VFNMADD231PS(c.f(0.693359375), n, r)
	VFNMADD231PS(c.f(-2.12194440e-4), n, r)
	y := polynomial(r, 5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4)
	VMULPS(r, y, y)
	VFMADD213PS(r, r, y)
	VADDPS(c.f(1), y, y)
	whole, half := YMM(), YMM()
	VCVTPS2DQ(n, whole)
	VPSRAD(U8(1), whole, half)
	VPSUBD(half, whole, whole)
	for _, e := range []VecVirtual{half, whole} {
		VPADDD(c.bits(127), e, e)
		VPSLLD(U8(23), e, e)
		VMULPS(e, y, y)
	}
	return y
}

// logarithm is log x = e log 2 + log m with m in [√½, √2). The polynomial is that of Cephes (Moshier).
func logarithm(x VecVirtual) VecVirtual {
	tiny := compare(less, x, c.f(0x1p-126))
	scaled := blend(x, mul(x, c.f(0x1p23)), tiny)
	m := or(and(scaled, c.bits(0x007fffff)), c.f(0.5))
	e := YMM()
	VPSRLD(U8(23), scaled, e)
	VPSUBD(c.bits(126), e, e)
	VCVTDQ2PS(e, e)
	VSUBPS(and(tiny, c.f(23)), e, e)
	low := compare(less, m, c.f(math.Sqrt2/2))
	VSUBPS(and(low, c.f(1)), e, e)
	VADDPS(and(m, low), m, m)
	VSUBPS(c.f(1), m, m)
	z := mul(m, m)
	y := polynomial(m, 3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1, -1.6668057665e-1, 1.4249322787e-1,
		-1.2420140846e-1, 1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2)
	VMULPS(m, y, y)
	VMULPS(z, y, y)
	VFMADD231PS(c.f(-2.12194440e-4), e, y)
	VFNMADD231PS(c.f(0.5), z, y)
	VADDPS(m, y, y)
	VFMADD231PS(c.f(0.693359375), e, y)
	// 0 gives −∞, less gives NaN, ∞ and NaN give themselves.
	y = blend(y, x, compare(equal, x, c.f(math.Inf(1))))
	y = blend(y, c.f(math.Inf(-1)), compare(equal, x, c.f(0)))
	y = blend(y, c.bits(0x7fc00000), compare(less, x, c.f(0)))
	unordered := compare(0x03, x, x)
	return blend(y, x, unordered)
}

// tanh is an odd polynomial near zero and 1 − 2/(e²ˣ+1) elsewhere. The polynomial is that of Cephes (Moshier).
func tanh(x VecVirtual) VecVirtual {
	size := absolute(x)
	e := exp(add(size, size))
	VADDPS(c.f(1), e, e)
	far := one()
	VSUBPS(div(load(c.f(2)), e), far, far)
	VORPS(and(x, c.bits(0x80000000)), far, far)
	z := mul(x, x)
	near := polynomial(z, -3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3)
	VMULPS(z, near, near)
	VFMADD213PS(x, x, near)
	return blend(far, near, compare(less, size, c.f(0.625)))
}

// sigmoid is e⁻ᵃ/(1+e⁻ᵃ) left of zero and 1/(1+e⁻ᵃ) right of it, a = |x|: no overflow, no cancellation.
func sigmoid(x VecVirtual) VecVirtual {
	e := exp(or(x, c.bits(0x80000000)))
	top := blend(one(), e, x)
	VADDPS(c.f(1), e, e)
	return div(top, e)
}

// softplus is max(x, 0) + log(1 + e⁻ᵃ), a = |x|. With s = e/(2+e), log(1+e) = 2 artanh s.
func softplus(x VecVirtual) VecVirtual {
	e := exp(or(x, c.bits(0x80000000)))
	s := div(e, add(e, c.f(2)))
	z := mul(s, s)
	y := polynomial(z, 0.3333316082069003, 0.20012297615355565, 0.1398257887228139, 0.1407888918329598)
	VMULPS(z, y, y)
	VFMADD213PS(s, s, y)
	VADDPS(y, y, y)
	// The maximum of zero and NaN is the second operand, NaN.
	positive, zero := YMM(), YMM()
	VXORPS(zero, zero, zero)
	VMAXPS(x, zero, positive)
	return add(positive, y)
}

func relu(x VecVirtual) VecVirtual {
	zero := YMM()
	VXORPS(zero, zero, zero)
	VMAXPS(x, zero, x)
	return x
}

func leaky(x VecVirtual) VecVirtual {
	return blend(x, mul(x, c.f(0.2)), x)
}

func reluGradient(d, y VecVirtual) { VANDNPS(d, compare(lessEqual, y, c.f(0)), d) }

func leakyGradient(d, y VecVirtual) {
	VMOVAPS(blend(d, mul(d, c.f(0.2)), compare(lessEqual, y, c.f(0))), d)
}

func tanhGradient(d, y VecVirtual) {
	slope := one()
	VFNMADD231PS(y, y, slope)
	VMULPS(slope, d, d)
}

func sigmoidGradient(d, y VecVirtual) {
	rest := one()
	VSUBPS(y, rest, rest)
	VMULPS(y, rest, rest)
	VMULPS(rest, d, d)
}

// softplusGradient multiplies by 1 − e⁻ʸ = 2t/(1+t), t = tanh(y/2), which loses nothing for small y.
func softplusGradient(d, y VecVirtual) {
	t := tanh(mul(y, c.f(0.5)))
	VMULPS(div(add(t, t), add(t, c.f(1))), d, d)
}
