package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The loops process n ≥ 0 numbers, eight (or sixteen) at a time. The remaining numbers are read and
// written with a mask, so memory outside the operands is not accessed.

// translated holds the functions of vector_amd64.s that arm64 has too, under the same names, so
// that both share the code that calls them.
var translated = strings.Fields("exp log tanh sigmoid softplus relu leaky reluGradient " +
	"leakyGradient tanhGradient sigmoidGradient softplusGradient expGradient logGradient mul sub " +
	"axpy scale clamp threshold cosSin adam units addUnits scaleOdd larger giveEqual")

// shared holds the translated functions while vector_amd64.s is written.
var shared []string

func begin(name, signature string, doc ...string) {
	level := "AVX2"
	if wide {
		level = "AVX512"
	} else if slices.Contains(shared, name) {
		level = "Vector"
	}
	TEXT(name+level, NOSPLIT, signature)
	Doc(doc...)
	Pragma("noescape")
}

func pointer(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

func load(m Mem) VecVirtual {
	x := YMM()
	VMOVUPS(m, x)
	return x
}

func single(name string) VecVirtual {
	x := register()
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(b.Addr, x)
	return x
}

// lanes gives the body of a loop access to the next numbers of each operand: a full bundle or, at
// the end, the remaining numbers.
type lanes struct {
	at   GPVirtual
	mask VecVirtual    // nil for all lanes
	k    OpmaskVirtual // the same for vectors of sixteen
}

func (l lanes) load(base GPVirtual) bundle {
	x := fresh()
	for i := range x {
		switch {
		case l.mask != nil:
			VMASKMOVPS(l.element(base, i), l.mask, x[i])
		case l.k != nil:
			VMOVUPS_Z(l.element(base, i), l.k, x[i])
		default:
			VMOVUPS(l.element(base, i), x[i])
		}
	}
	return x
}

func (l lanes) store(x bundle, base GPVirtual) {
	for i := range x {
		switch {
		case l.mask != nil:
			VMASKMOVPS(x[i], l.mask, l.element(base, i))
		case l.k != nil:
			VMOVUPS(x[i], l.k, l.element(base, i))
		default:
			VMOVUPS(x[i], l.element(base, i))
		}
	}
}

func (l lanes) element(base GPVirtual, i int) Mem {
	return Mem{Base: base, Index: l.at, Scale: 1, Disp: size() * i}
}

// tailMask returns a mask that keeps the first n lanes. The mask is read from a table of ones
// followed by zeros.
func tailMask(n GPVirtual) VecVirtual {
	table, mask := GP64(), YMM()
	LEAQ(NewDataAddr(NewStaticSymbol(tailMaskName), 32), table)
	NEGQ(n)
	VMOVUPS(Mem{Base: table, Index: n, Scale: 4}, mask)
	return mask
}

const tailMaskName = "tailMask"

func writeTailMask() {
	GLOBL(tailMaskName, attr.RODATA|attr.NOPTR)
	for i := range 16 {
		DATA(4*i, I32(-1+i/8))
	}
}

// tailBits is like tailMask, for vectors of sixteen.
func tailBits(n GPVirtual) OpmaskVirtual {
	bits, k := GP32(), K()
	MOVL(n.As32(), ECX)
	MOVL(I32(-1), bits)
	SHLL(CL, bits)
	NOTL(bits)
	KMOVW(bits, k)
	return k
}

// over writes a loop that runs body over n numbers: two vectors at a time, then one vector, then
// the remaining numbers. Execution continues after the loop.
func over(body func(l lanes)) {
	n, at := pointer("n"), GP64()
	XORQ(at, at)
	for _, w := range []int{2, 1} {
		numbers := w * size() / 4
		label, behind := fmt.Sprintf("loop%d", w), fmt.Sprintf("behind%d", w)
		SUBQ(U8(numbers), n)
		JL(LabelRef(behind))
		Label(label)
		width = w
		body(lanes{at: at})
		width = 1
		ADDQ(U32(4*numbers), at)
		SUBQ(U8(numbers), n)
		JGE(LabelRef(label))
		Label(behind)
		ADDQ(U8(numbers), n)
	}
	TESTQ(n, n)
	JZ(LabelRef("end"))
	if wide {
		body(lanes{at: at, k: tailBits(n)})
	} else {
		body(lanes{at: at, mask: tailMask(n)})
	}
	Label("end")
}

func loop(body func(l lanes)) {
	over(body)
	VZEROUPPER()
	RET()
}

func elementwise(name string, f func(bundle) bundle) {
	begin(name, "func(n int, dst, src *float32)")
	dst, src := pointer("dst"), pointer("src")
	loop(func(l lanes) { l.store(f(l.load(src)), dst) })
}

func gradient(name string, f func(delta, out bundle)) {
	begin(name+"Gradient", "func(n int, delta, out *float32)")
	delta, out := pointer("delta"), pointer("out")
	loop(func(l lanes) {
		y := l.load(out)
		d := l.load(delta)
		f(d, y)
		l.store(d, delta)
	})
}

func binary(name string, f func(a, b bundle)) {
	begin(name, "func(n int, dst, a, b *float32)")
	dst, a, b := pointer("dst"), pointer("a"), pointer("b")
	loop(func(l lanes) {
		x := l.load(a)
		f(x, l.load(b))
		l.store(x, dst)
	})
}

func axpy() {
	begin("axpy", "func(n int, alpha float32, x, y *float32)")
	alpha, x, y := single("alpha"), pointer("x"), pointer("y")
	loop(func(l lanes) {
		v := l.load(y)
		emit(VFMADD231PS, l.load(x), alpha, v)
		l.store(v, y)
	})
}

// giveEqual writes the kernel that moves d to dx where x equals y.
func giveEqual() {
	begin("giveEqual", "func(n int, dx, d, x, y *float32)")
	dx, d, x, y := pointer("dx"), pointer("d"), pointer("x"), pointer("y")
	loop(func(l lanes) {
		whole := l.load(d)
		given := and(compare(equal, l.load(x), l.load(y)).v, whole)
		l.store(add(given, l.load(dx)), dx)
		l.store(xor(whole, given), d)
	})
}

// units writes the kernel that adds to total the integers nearest to w·x, in units of the last
// place of the origin. Such an integer is the bits of origin + w·x, which one multiply-add rounds,
// minus the bits of the origin.
func units() {
	begin("units", "func(n int, w, origin float32, x *float32, total *int32)")
	w, origin, x, total := single("w"), single("origin"), pointer("x"), pointer("total")
	loop(func(l lanes) {
		v := result(VMOVAPS, origin)
		emit(VFMADD231PS, l.load(x), w, v)
		emit(VPSUBD, origin, v, v)
		emit(VPADDD, l.load(total), v, v)
		l.store(v, total)
	})
}

// addUnits writes the kernel that adds the integers of from to total.
func addUnits() {
	begin("addUnits", "func(n int, total, from *int32)")
	total, from := pointer("total"), pointer("from")
	loop(func(l lanes) {
		v := l.load(from)
		emit(VPADDD, l.load(total), v, v)
		l.store(v, total)
	})
}

// scaleOdd writes the kernel that sets dst to w·src with the last bit of every number set, or to
// zero where w·src is not a normal number.
func scaleOdd() {
	begin("scaleOdd", "func(n int, w float32, dst, src *float32)")
	w, dst, src := single("w"), pointer("dst"), pointer("src")
	loop(func(l lanes) {
		v := mul(l.load(src), w)
		keep := compare(lessEqual, constant(c.bits(0x00800000)), absolute(v))
		l.store(and(or(v, c.bits(1)), keep.v), dst)
	})
}

func scale() {
	begin("scale", "func(n int, alpha float32, x *float32)")
	alpha, x := single("alpha"), pointer("x")
	loop(func(l lanes) { l.store(mul(l.load(x), alpha), x) })
}

// clamp writes the kernel that clamps numbers to [lo, hi]. NaN is not greater than lo, and so
// becomes lo. Adding zero turns −0 into 0.
func clamp() {
	begin("clamp", "func(n int, lo, hi float32, dst, src *float32)")
	lo, hi, dst, src := single("lo"), single("hi"), pointer("dst"), pointer("src")
	loop(func(l lanes) {
		x := l.load(src)
		kept := add(x, c.f(0))
		kept = blend(kept, hi, compare(greater, x, hi))
		l.store(blend(kept, lo, compare(notGreater, x, lo)), dst)
	})
}

// threshold writes the kernel that sets numbers of at least t to 1 and other numbers, NaN included,
// to 0.
func threshold() {
	begin("threshold", "func(n int, t float32, dst, src *float32)")
	t, dst, src := single("t"), pointer("dst"), pointer("src")
	loop(func(l lanes) { l.store(and(compare(atLeast, l.load(src), t).v, c.f(1)), dst) })
}

// widest is the largest argument for which the reduction in cosSin is exact.
const widest = 65536

// cosSin subtracts n·π/2 from x, with π/2 divided into three parts. The products are exact inside
// the fused operations. The first difference is exact too, because the first product and x are
// multiples of the same power of two. The polynomials are from Cephes (Moshier).
func cosSin() {
	begin("cosSin", "func(n int, cos, sin, src *float32, scale float32)")
	cos, sin, src, factor := pointer("cos"), pointer("sin"), pointer("src"), single("scale")
	loop(func(l lanes) {
		x := l.load(src)
		n := mul(x, c.f(0.6366197723675814))
		round(n)
		for _, part := range []float64{1.57079637050628662109375, -4.37113882867379e-8, -1.71512449e-15} {
			emit(VFNMADD231PS, c.f(part), n, x)
		}
		z := mul(x, x)
		s := polynomial(z, -1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4)
		emit(VMULPS, z, s, s)
		emit(VFMADD213PS, x, x, s)
		k := polynomial(z, 4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5)
		emit(VMULPS, z, k, k)
		emit(VMULPS, z, k, k)
		emit(VFNMADD231PS, c.f(0.5), z, k)
		emit(VADDPS, c.f(1), k, k)
		quadrant, swap := fresh(), fresh()
		emit(VCVTPS2DQ, n, quadrant)
		emit(VPSLLD, U8(31), quadrant, swap)
		sine, cosine := blend(s, k, negative(swap)), blend(k, s, negative(swap))
		emit(VMULPS, factor, sine, sine)
		emit(VMULPS, factor, cosine, cosine)
		flip := fresh()
		emit(VPSLLD, U8(30), quadrant, flip)
		emit(VANDPS, c.bits(0x80000000), flip, flip)
		emit(VXORPS, flip, sine, sine)
		emit(VPADDD, c.bits(1), quadrant, quadrant)
		emit(VPSLLD, U8(30), quadrant, quadrant)
		emit(VANDPS, c.bits(0x80000000), quadrant, quadrant)
		emit(VXORPS, quadrant, cosine, cosine)
		l.store(cosine, cos)
		l.store(sine, sin)
	})
}

// tooWide writes the kernel that reports whether cosSin cannot reduce one of the arguments.
func tooWide() {
	begin("tooWide", "func(n int, src *float32) bool",
		"tooWideAVX2 reports whether a number is NaN or too large for cosSin.")
	src := pointer("src")
	any := YMM()
	VXORPS(any, any, any)
	over(func(l lanes) {
		const notLessEqual = 0x16 // true for NaN
		for _, wrong := range compare(notLessEqual, absolute(l.load(src)), c.f(widest)).v {
			VORPS(wrong, any, any)
		}
	})
	signs := GP32()
	VMOVMSKPS(any, signs)
	TESTL(signs, signs)
	found := GP8()
	SETNE(found)
	Store(found, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// toDoubles converts eight numbers to float64, four in each register.
func toDoubles(x VecVirtual) [2]VecVirtual {
	high, a, b := XMM(), YMM(), YMM()
	VEXTRACTF128(U8(1), x, high)
	VCVTPS2PD(x.AsX(), a)
	VCVTPS2PD(high, b)
	return [2]VecVirtual{a, b}
}

// doubles converts the next eight numbers of an operand to float64. Without a mask, it reads the
// two halves separately. This saves an instruction that moves the upper half.
func (l lanes) doubles(base GPVirtual, i int) [2]VecVirtual {
	if l.mask != nil {
		x := YMM()
		VMASKMOVPS(l.element(base, i), l.mask, x)
		return toDoubles(x)
	}
	a, b, m := YMM(), YMM(), l.element(base, i)
	VCVTPS2PD(m, a)
	m.Disp += 16
	VCVTPS2PD(m, b)
	return [2]VecVirtual{a, b}
}

// total writes instructions that add up the numbers of four registers in a fixed order and return
// the sum from the kernel.
func total(sums []VecVirtual) {
	VADDPD(sums[2], sums[0], sums[0])
	VADDPD(sums[3], sums[1], sums[1])
	VADDPD(sums[1], sums[0], sums[0])
	high := XMM()
	VEXTRACTF128(U8(1), sums[0], high)
	low := sums[0].AsX()
	VADDPD(high, low, low)
	VPERMILPD(U8(1), low, high)
	VADDSD(high, low, low)
	Store(low, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// zeroedSums returns registers of zeros for the partial sums of a bundle of two.
func zeroedSums() []VecVirtual {
	sums := make([]VecVirtual, 4)
	for i := range sums {
		sums[i] = YMM()
		VXORPD(sums[i], sums[i], sums[i])
	}
	return sums
}

// dot writes the kernel of the dot product, which multiplies and adds in float64, where products of
// float32 numbers are exact.
func dot() {
	begin("dot", "func(n int, a, b *float32) float64")
	a, b := pointer("a"), pointer("b")
	sums := zeroedSums()
	over(func(l lanes) {
		u, v := l.load(a), l.load(b)
		for i := range u {
			x, y := toDoubles(u[i]), toDoubles(v[i])
			VFMADD231PD(x[0], y[0], sums[2*i])
			VFMADD231PD(x[1], y[1], sums[2*i+1])
		}
	})
	total(sums)
}

// squares writes the kernel of the dot product of a vector with itself.
func squares() {
	begin("squares", "func(n int, a *float32) float64")
	a := pointer("a")
	sums := zeroedSums()
	over(func(l lanes) {
		for i := range width {
			x := l.doubles(a, i)
			VFMADD231PD(x[0], x[0], sums[2*i])
			VFMADD231PD(x[1], x[1], sums[2*i+1])
		}
	})
	total(sums)
}

// squaresOfTwo writes a version of squares for two vectors at a time: with one vector, each
// addition waits for the previous one. One register holds the eight float64 sums that squares holds
// in a pair of registers, so the bits are the same.
func squaresOfTwo() {
	begin("squaresOfTwo", "func(n int, a, b *float32) (x, y float64)")
	rows := [2]GPVirtual{pointer("a"), pointer("b")}
	n := pointer("n")
	var sums [2][2]VecVirtual
	for r := range sums {
		for i := range sums[r] {
			sums[r][i] = ZMM()
			VPXORQ(sums[r][i], sums[r][i], sums[r][i])
		}
	}
	add := func(i int, k *OpmaskVirtual) {
		for r, row := range rows {
			x := ZMM()
			if k != nil {
				y := YMM()
				VMOVUPS_Z(Mem{Base: row}, *k, y)
				VCVTPS2PD(y, x)
			} else {
				VCVTPS2PD(Mem{Base: row, Disp: 32 * i}, x)
			}
			VFMADD231PD(x, x, sums[r][i])
		}
	}
	step := func(bytes int) {
		for _, row := range rows {
			ADDQ(U8(bytes), row)
		}
	}
	for _, w := range []int{2, 1} {
		label, behind := fmt.Sprintf("loop%d", w), fmt.Sprintf("behind%d", w)
		SUBQ(U8(8*w), n)
		JL(LabelRef(behind))
		Label(label)
		for i := range w {
			add(i, nil)
		}
		step(32 * w)
		SUBQ(U8(8*w), n)
		JGE(LabelRef(label))
		Label(behind)
		ADDQ(U8(8*w), n)
	}
	TESTQ(n, n)
	JZ(LabelRef("end"))
	k := tailBits(n)
	add(0, &k)
	Label("end")
	for r := range rows {
		VADDPD(sums[r][1], sums[r][0], sums[r][0])
		whole, low, half, high := sums[r][0].AsY(), sums[r][0].AsX(), YMM(), XMM()
		VEXTRACTF64X4(U8(1), sums[r][0], half)
		VADDPD(half, whole, whole)
		VEXTRACTF128(U8(1), whole, high)
		VADDPD(high, low, low)
		VPERMILPD(U8(1), low, high)
		VADDSD(high, low, low)
		Store(low, ReturnIndex(r))
	}
	VZEROUPPER()
	RET()
}

// adam writes the kernel of a step of Adam. The kernel reads its rates as seven numbers: beta1,
// rest1, beta2, rest2, step, root, eps. It first multiplies gradients by scale.
func adam() {
	begin("adam", "func(n int, theta, grad, m, v, rates *float32, scale float32)")
	g, rates, scale := pointer("grad"), pointer("rates"), single("scale")
	adamLoop(rates, func(l lanes) bundle { return mul(l.load(g), scale) })
}

// adamOfSum is like adam, for a gradient and a scale in float64.
func adamOfSum() {
	begin("adamOfSum",
		"func(n int, theta *float32, grad *float64, m, v, rates *float32, scale float64)")
	g, rates := pointer("grad"), pointer("rates")
	scale := YMM()
	VBROADCASTSD(argument("scale"), scale)
	adamLoop(rates, func(l lanes) bundle {
		x := fresh()
		for i := range x {
			var half [2]VecVirtual
			for h := range half {
				half[h] = YMM()
				at := Mem{Base: g, Index: l.at, Scale: 2, Disp: 64*i + 32*h}
				if l.mask == nil {
					VMULPD(at, scale, half[h])
					continue
				}
				some := XMM()
				VEXTRACTF128(U8(h), l.mask, some)
				keep := YMM()
				VPMOVSXDQ(some, keep)
				VMASKMOVPD(at, keep, half[h])
				VMULPD(scale, half[h], half[h])
			}
			high := XMM()
			VCVTPD2PSY(half[0], x[i].AsX())
			VCVTPD2PSY(half[1], high)
			VINSERTF128(U8(1), high, x[i], x[i])
		}
		return x
	})
}

func adamLoop(rates GPVirtual, gradient func(l lanes) bundle) {
	p, m, v := pointer("theta"), pointer("m"), pointer("v")
	var rate [7]VecVirtual
	for i := range rate {
		rate[i] = YMM()
		VBROADCASTSS(Mem{Base: rates, Disp: 4 * i}, rate[i])
	}
	loop(func(l lanes) {
		x := gradient(l)
		first, second := mul(l.load(m), rate[0]), mul(l.load(v), rate[2])
		emit(VFMADD231PS, rate[1], x, first)
		emit(VMULPS, x, x, x)
		emit(VFMADD231PS, rate[3], x, second)
		l.store(first, m)
		l.store(second, v)
		emit(VSQRTPS, second, second)
		emit(VFMADD213PS, rate[6], rate[5], second)
		emit(VMULPS, rate[4], first, first)
		emit(VDIVPS, second, first, first)
		l.store(sub(l.load(p), first), p)
	})
}

// gather writes the kernel that adds count ≥ 1 rows of w, stride bytes apart, to n numbers. It
// keeps up to sixty-four sums in registers at a time.
func gather() {
	begin("gather", "func(n int, dst, w *float32, stride int, items *uint32, count int)")
	n, dst, w, stride := pointer("n"), pointer("dst"), pointer("w"), pointer("stride")
	strip := func(label string, vectors int, mask VecVirtual) {
		items, left, zero := pointer("items"), pointer("count"), GP64()
		XORQ(zero, zero)
		l := lanes{at: zero, mask: mask}
		sums := make([]VecVirtual, vectors)
		for i := range sums {
			if mask != nil {
				sums[i] = l.load(dst)[0]
			} else {
				sums[i] = load(Mem{Base: dst, Disp: 32 * i})
			}
		}
		Label(label)
		row := GP64()
		MOVL(Mem{Base: items}, row.As32())
		IMULQ(stride, row)
		for line := 0; line < vectors/2 && vectors == 8; line++ {
			// Prefetch the next strip of this row, because there are too many rows for the hardware to
			// prefetch all of them.
			PREFETCHT0(Mem{Base: w, Index: row, Scale: 1, Disp: 32*vectors + 64*line})
		}
		for i, sum := range sums {
			if mask != nil {
				VADDPS(lanes{at: row, mask: mask}.load(w)[0], sum, sum)
			} else {
				VADDPS(Mem{Base: w, Index: row, Scale: 1, Disp: 32 * i}, sum, sum)
			}
		}
		ADDQ(U8(4), items)
		DECQ(left)
		JNZ(LabelRef(label))
		for i, sum := range sums {
			if mask != nil {
				l.store(bundle{sum}, dst)
			} else {
				VMOVUPS(sum, Mem{Base: dst, Disp: 32 * i})
			}
		}
		ADDQ(U32(32*vectors), dst)
		ADDQ(U32(32*vectors), w)
	}
	for _, width := range []int{8, 2, 1} {
		next, done := fmt.Sprintf("strip%d", width), fmt.Sprintf("done%d", width)
		Label(next)
		CMPQ(n, U8(8*width))
		JL(LabelRef(done))
		strip(fmt.Sprintf("items%d", width), width, nil)
		SUBQ(U8(8*width), n)
		JMP(LabelRef(next))
		Label(done)
	}
	TESTQ(n, n)
	JZ(LabelRef("end"))
	strip("items", 1, tailMask(n))
	Label("end")
	VZEROUPPER()
	RET()
}

// scatter writes the kernel that adds n numbers to each of count ≥ 1 rows of c, stride bytes apart.
func scatter() {
	begin("scatter", "func(n int, c *float32, stride int, items *uint32, count int, src *float32)")
	base, stride, items, count, src := pointer("c"), pointer("stride"), pointer("items"),
		pointer("count"), pointer("src")
	Label("item")
	row := GP64()
	MOVL(Mem{Base: items}, row.As32())
	IMULQ(stride, row)
	ADDQ(base, row)
	over(func(l lanes) { l.store(add(l.load(src), l.load(row)), row) })
	ADDQ(U8(4), items)
	DECQ(count)
	JNZ(LabelRef("item"))
	VZEROUPPER()
	RET()
}
