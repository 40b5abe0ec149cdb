package main

import (
	"fmt"
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Vectors in this file have eight float32 numbers (AVX2) or sixteen (AVX-512), with the same
// operations for both. Every function handles NaN, infinities, zeros and subnormal numbers. The
// result for a number does not depend on its position in the vector.

var c constants

func vector() {
	shared = translated
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
	gradient("exp", func(d, y bundle) { emit(VMULPS, y, d, d) })
	gradient("log", func(d, y bundle) { emit(VMULPS, exp(negate(y)), d, d) })
	binary("mul", func(a, b bundle) { emit(VMULPS, b, a, a) })
	binary("sub", func(a, b bundle) { emit(VSUBPS, b, a, a) })
	binary("larger", larger)
	giveEqual()
	axpy()
	scale()
	clamp()
	threshold()
	cosSin()
	tooWide()
	dot()
	squares()
	adam()
	adamOfSum()
	gather()
	scatter()
	units()
	addUnits()
	scaleOdd()
	softmaxRows()
	softmaxRowsGradient()
	standardize()
	standardizeGradient()
	wide = true
	elementwise("exp", exp)
	elementwise("log", logarithm)
	elementwise("tanh", tanh)
	elementwise("sigmoid", sigmoid)
	elementwise("softplus", softplus)
	gradient("softplus", softplusGradient)
	gradient("log", func(d, y bundle) { emit(VMULPS, exp(negate(y)), d, d) })
	cosSin()
	squaresOfTwo()
	wide = false
	c.write()
	writeTailMask()
}

// bundle is one vector, or two vectors whose operations are interleaved. The chains of operations
// in this file are so long that the processor could not start on the next vector early enough
// without interleaving.
type bundle []VecVirtual

// width is the number of vectors that the current function processes at a time.
var width = 1

// wide states whether the current function uses vectors of sixteen.
var wide bool

// size returns the size of a vector in bytes.
func size() int {
	if wide {
		return 64
	}
	return 32
}

func register() VecVirtual {
	if wide {
		return ZMM()
	}
	return YMM()
}

func fresh() bundle {
	x := make(bundle, width)
	for i := range x {
		x[i] = register()
	}
	return x
}

// emit writes an instruction once for every vector of its bundles. Operands that are not bundles
// are shared.
func emit(instruction any, operands ...any) {
	for i := range width {
		ops := make([]Op, len(operands))
		for k, o := range operands {
			if b, ok := o.(bundle); ok {
				o = b[i]
			}
			ops[k] = o.(Op)
		}
		do := instruction
		if wide && slices.ContainsFunc(ops, inConstants) {
			do = broadcast(instruction)
		}
		switch f := do.(type) {
		case func(...Op):
			f(ops...)
		case func(Op, Op):
			f(ops[0], ops[1])
		case func(Op, Op, Op):
			f(ops[0], ops[1], ops[2])
		case func(Op, Op, Op, Op):
			f(ops[0], ops[1], ops[2], ops[3])
		default:
			panic(fmt.Sprintf("asmgen: unsupported instruction of type %T", instruction))
		}
	}
}

// result writes an instruction whose destination is a new bundle, and returns the bundle.
func result(instruction any, operands ...any) bundle {
	x := fresh()
	emit(instruction, append(operands, x)...)
	return x
}

func constant(m Mem) bundle { return result(VMOVUPS, m) }

func copyOf(x bundle) bundle { return result(VMOVAPS, x) }

func add(a bundle, b any) bundle { return result(VADDPS, b, a) }
func sub(a bundle, b any) bundle { return result(VSUBPS, b, a) }
func mul(a bundle, b any) bundle { return result(VMULPS, b, a) }
func div(a bundle, b any) bundle { return result(VDIVPS, b, a) }
func and(a bundle, b any) bundle { return result(VANDPS, b, a) }
func or(a bundle, b any) bundle  { return result(VORPS, b, a) }
func xor(a bundle, b any) bundle { return result(VXORPS, b, a) }

// mask selects lanes: by the sign of each lane of a vector in AVX2, by a bit in AVX-512.
type mask struct {
	v bundle
	k []OpmaskVirtual
}

func compare(predicate uint64, a bundle, b any) mask {
	if !wide {
		return mask{v: result(VCMPPS, U8(predicate), b, a)}
	}
	m := masks()
	for i, k := range m.k {
		if other, ok := b.(bundle); ok {
			VCMPPS(U8(predicate), other[i], a[i], k)
		} else {
			VCMPPS_BCST(U8(predicate), b.(Op), a[i], k)
		}
	}
	return m
}

// negative returns a mask of the lanes where the sign bit of x is set.
func negative(x bundle) mask {
	if !wide {
		return mask{v: x}
	}
	m := masks()
	for i, k := range m.k {
		VPMOVD2M(x[i], k)
	}
	return m
}

func masks() mask {
	m := mask{k: make([]OpmaskVirtual, width)}
	for i := range m.k {
		m.k[i] = K()
	}
	return m
}

// blend returns b in the lanes of the mask and a elsewhere.
func blend(a bundle, b any, m mask) bundle {
	if !wide {
		return result(VBLENDVPS, m.v, b, a)
	}
	y := fresh()
	for i, k := range m.k {
		if other, ok := b.(bundle); ok {
			VBLENDMPS(other[i], a[i], k, y[i])
		} else {
			VBLENDMPS_BCST(b.(Op), a[i], k, y[i])
		}
	}
	return y
}

// only returns x in the lanes of the mask and zero elsewhere.
func only(m mask, x any) bundle {
	if !wide {
		return and(m.v, x)
	}
	y := fresh()
	for i, k := range m.k {
		if other, ok := x.(bundle); ok {
			VMOVUPS_Z(other[i], k, y[i])
		} else {
			VBROADCASTSS_Z(x.(Op), k, y[i])
		}
	}
	return y
}

// round rounds x to the nearest integers.
func round(x bundle) {
	if wide {
		emit(VRNDSCALEPS, U8(8), x, x)
		return
	}
	emit(VROUNDPS, U8(8), x, x)
}

const (
	less       = 0x11 // ordered, quiet
	lessEqual  = 0x12
	equal      = 0x00
	unordered  = 0x03
	atLeast    = 0x1d
	greater    = 0x1e
	notGreater = 0x1a // or unordered, quiet
	notLess    = 0x15
)

func absolute(x bundle) bundle { return and(x, c.bits(0x7fffffff)) }
func negate(x bundle) bundle   { return xor(x, c.bits(0x80000000)) }
func one() bundle              { return constant(c.f(1)) }

// polynomial returns Σ coefficients[i] zⁱ.
func polynomial(z bundle, coefficients ...float64) bundle {
	last := len(coefficients) - 1
	y := constant(c.f(coefficients[last]))
	for i := last - 1; i >= 0; i-- {
		emit(VFMADD213PS, c.f(coefficients[i]), z, y)
	}
	return y
}

// reduced returns n and y such that eˣ = 2ⁿ y, where x = n log 2 + r with |r| ≤ ½ log 2, and y =
// eʳ. The coefficients are from Cephes (Moshier).
func reduced(x bundle) (n, y bundle) {
	n = mul(x, c.f(math.Log2E))
	round(n)
	r := copyOf(x)
	emit(VFNMADD231PS, c.f(0.693359375), n, r)
	emit(VFNMADD231PS, c.f(-2.12194440e-4), n, r)
	y = polynomial(r, 5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3,
		1.3981999507e-3, 1.9875691500e-4)
	emit(VMULPS, r, y, y)
	emit(VFMADD213PS, r, r, y)
	emit(VADDPS, c.f(1), y, y)
	return n, y
}

// exp returns eˣ. It multiplies by the power of two in two steps. So results may be subnormal, and
// overflow gives infinity. Below −104 it computes e⁰ and then drops the result: multiplications
// whose results underflow take many times as long.
func exp(x bundle) bundle {
	keep := compare(notLess, x, c.f(-104))
	// If one operand is NaN, the minimum is the second operand, which is x.
	n, y := reduced(result(VMINPS, only(keep, x), constant(c.f(89))))
	whole, half := fresh(), fresh()
	emit(VCVTPS2DQ, n, whole)
	emit(VPSRAD, U8(1), whole, half)
	emit(VPSUBD, half, whole, whole)
	for _, e := range []bundle{half, whole} {
		emit(VPADDD, c.bits(127), e, e)
		emit(VPSLLD, U8(23), e, e)
		emit(VMULPS, e, y, y)
	}
	return only(keep, y)
}

// expMinus returns e⁻ᵃ for a = |x|. It computes 2⁶⁴ times the result, which is never subnormal, and
// scales it down.
func expMinus(x bundle) bundle {
	limited := or(x, c.bits(0x80000000))
	emit(VMAXPS, limited, constant(c.f(-105)), limited)
	n, y := reduced(limited)
	emit(VCVTPS2DQ, n, n)
	emit(VPADDD, c.bits(64), n, n)
	emit(VPSLLD, U8(23), n, n)
	// Arithmetic on the bits of NaN gives wrong results, which are replaced at the end.
	nan := compare(unordered, x, x)
	emit(VPADDD, n, y, y)
	emit(VMULPS, c.f(0x1p-64), y, y)
	return blend(y, x, nan)
}

// expPlus returns eᵇ for b ≥ 0. Beyond b = 40 it returns e⁴⁰, because larger values make no
// difference to its callers. The callers handle NaN.
func expPlus(b bundle) bundle {
	n, y := reduced(result(VMINPS, constant(c.f(40)), b))
	emit(VCVTPS2DQ, n, n)
	emit(VPSLLD, U8(23), n, n)
	emit(VPADDD, n, y, y)
	return y
}

// logarithm returns log x = e log 2 + log m, with m in [√½, √2). The polynomial is from Cephes
// (Moshier).
func logarithm(x bundle) bundle {
	tiny := compare(less, x, c.f(0x1p-126))
	scaled := blend(x, mul(x, c.f(0x1p23)), tiny)
	m := or(and(scaled, c.bits(0x007fffff)), c.f(0.5))
	e := fresh()
	emit(VPSRLD, U8(23), scaled, e)
	emit(VPSUBD, c.bits(126), e, e)
	emit(VCVTDQ2PS, e, e)
	emit(VSUBPS, only(tiny, c.f(23)), e, e)
	low := compare(less, m, c.f(math.Sqrt2/2))
	emit(VSUBPS, only(low, c.f(1)), e, e)
	emit(VADDPS, only(low, m), m, m)
	emit(VSUBPS, c.f(1), m, m)
	z := mul(m, m)
	y := polynomial(m, 3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1, -1.6668057665e-1,
		1.4249322787e-1,
		-1.2420140846e-1, 1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2)
	emit(VMULPS, m, y, y)
	emit(VMULPS, z, y, y)
	emit(VFMADD231PS, c.f(-2.12194440e-4), e, y)
	emit(VFNMADD231PS, c.f(0.5), z, y)
	emit(VADDPS, m, y, y)
	emit(VFMADD231PS, c.f(0.693359375), e, y)
	// The logarithm of 0 is −∞, the logarithm of a negative number is NaN, and the logarithms of ∞ and
	// NaN are ∞ and NaN.
	y = blend(y, x, compare(equal, x, c.f(math.Inf(1))))
	y = blend(y, c.f(math.Inf(-1)), compare(equal, x, c.f(0)))
	y = blend(y, c.bits(0x7fc00000), compare(less, x, c.f(0)))
	return blend(y, x, compare(unordered, x, x))
}

// tanh returns an odd polynomial near zero and 1 − 2/(e²ˣ+1) elsewhere. The polynomial is from
// Cephes (Moshier).
func tanh(x bundle) bundle {
	a := absolute(x)
	e := expPlus(add(a, a))
	emit(VADDPS, c.f(1), e, e)
	far := one()
	emit(VSUBPS, div(constant(c.f(2)), e), far, far)
	emit(VORPS, and(x, c.bits(0x80000000)), far, far)
	z := mul(x, x)
	near := polynomial(z, -3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2,
		-5.70498872745e-3)
	emit(VMULPS, z, near, near)
	emit(VFMADD213PS, x, x, near)
	// All comparisons with NaN fail, so NaN takes the polynomial.
	return blend(near, far, compare(atLeast, a, c.f(0.625)))
}

// sigmoid returns e⁻ᵃ/(1+e⁻ᵃ) for negative x and 1/(1+e⁻ᵃ) for other x, where a = |x|. These forms
// avoid overflow and cancellation.
func sigmoid(x bundle) bundle {
	e := expMinus(x)
	top := blend(one(), e, negative(x))
	emit(VADDPS, c.f(1), e, e)
	return div(top, e)
}

// softplus returns max(x, 0) + log(1 + e⁻ᵃ), where a = |x|. With e = e⁻ᵃ and s = e/(2+e), log(1+e)
// = 2 artanh s.
func softplus(x bundle) bundle {
	e := expMinus(x)
	s := div(e, add(e, c.f(2)))
	z := mul(s, s)
	y := polynomial(z, 0.3333316082069003, 0.20012297615355565, 0.1398257887228139, 0.1407888918329598)
	emit(VMULPS, z, y, y)
	emit(VFMADD213PS, s, s, y)
	emit(VADDPS, y, y, y)
	// If one operand is NaN, the maximum is the second operand, which is x.
	positive, zero := fresh(), fresh()
	emit(VXORPS, zero, zero, zero)
	emit(VMAXPS, x, zero, positive)
	return add(positive, y)
}

func relu(x bundle) bundle {
	zero := fresh()
	emit(VXORPS, zero, zero, zero)
	emit(VMAXPS, x, zero, x)
	return x
}

func leaky(x bundle) bundle {
	return blend(x, mul(x, c.f(0.2)), negative(x))
}

func reluGradient(d, y bundle) { emit(VANDNPS, d, compare(lessEqual, y, c.f(0)).v, d) }

func leakyGradient(d, y bundle) {
	emit(VMOVAPS, blend(d, mul(d, c.f(0.2)), compare(lessEqual, y, c.f(0))), d)
}

func tanhGradient(d, y bundle) {
	slope := one()
	emit(VFNMADD231PS, y, y, slope)
	emit(VMULPS, slope, d, d)
}

func sigmoidGradient(d, y bundle) {
	rest := one()
	emit(VSUBPS, y, rest, rest)
	emit(VMULPS, y, rest, rest)
	emit(VMULPS, rest, d, d)
}

// larger makes a the larger of a and b, or NaN if one of them is.
func larger(a, b bundle) {
	most := blend(a, b, compare(greater, b, a))
	emit(VMOVAPS, blend(most, b, compare(unordered, b, b)), a)
}

// softplusGradient multiplies d by 1 − e⁻ʸ = 2t/(1+t), where t = tanh(y/2). This form avoids
// cancellation for small y.
func softplusGradient(d, y bundle) {
	t := tanh(mul(y, c.f(0.5)))
	emit(VMULPS, div(add(t, t), add(t, c.f(1))), d, d)
}
