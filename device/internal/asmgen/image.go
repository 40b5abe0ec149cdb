package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// raise writes the kernel that sums up the values of a pixel in all patches, for several adjacent
// pixels at a time:
//
//	dst[i·stepDst] = Σₐ Σ_b src[a·stepA + b·stepB + i·stepX],  vectors of eight, a before b
//
// Each sum is one chain that starts at zero. Steps are in bytes. If a mask is given, only the lanes
// that it keeps are read and written.
func raise(pixels int) {
	TEXT(fmt.Sprintf("raise%dAVX2", pixels), NOSPLIT, "func(na, nb int, src *float32, stepA, stepB, "+
		"stepX int, dst *float32, stepDst int, mask *int32)")
	Pragma("noescape")
	src, stepA, stepB, stepX, mask := pointer("src"), pointer("stepA"), pointer("stepB"),
		pointer("stepX"), pointer("mask")
	from := newRows(src, stepX, 8)
	acc := make([]VecVirtual, pixels)
	for i := range acc {
		acc[i] = YMM()
		VXORPS(acc[i], acc[i], acc[i])
	}
	na, nb := pointer("na"), GP64()
	loops := func(label string, add func(i int)) {
		Label(label + "_a")
		from.reset(src)
		Load(Param("nb"), nb)
		Label(label + "_b")
		for i := range acc {
			add(i)
		}
		from.step(stepB)
		DECQ(nb)
		JNZ(LabelRef(label + "_b"))
		ADDQ(stepA, src)
		DECQ(na)
		JNZ(LabelRef(label + "_a"))
	}
	store := func(keep VecVirtual) {
		dst, step := pointer("dst"), pointer("stepDst")
		for i := range acc {
			if keep == nil {
				VMOVUPS(acc[i], Mem{Base: dst})
			} else {
				VMASKMOVPS(acc[i], keep, Mem{Base: dst})
			}
			ADDQ(step, dst)
		}
		VZEROUPPER()
		RET()
	}
	TESTQ(mask, mask)
	JNZ(LabelRef("some"))
	loops("whole", func(i int) { VADDPS(from.at(i, 0), acc[i], acc[i]) })
	store(nil)
	Label("some")
	keep, x := load(Mem{Base: mask}), YMM()
	loops("masked", func(i int) {
		VMASKMOVPS(from.at(i, 0), keep, x)
		VADDPS(x, acc[i], acc[i])
	})
	store(keep)
}

// between writes the kernel that interpolates between pixels, for n ≥ 1 vectors of eight:
//
//	dst[i·stepDst] = ¾·a[i·step] + ¼·b[i·step]
func between() {
	TEXT("betweenAVX2", NOSPLIT, "func(n int, a, b *float32, step int, dst *float32, stepDst int)")
	Pragma("noescape")
	n, a, b, step := pointer("n"), pointer("a"), pointer("b"), pointer("step")
	dst, stepDst := pointer("dst"), pointer("stepDst")
	near, far := spreadBits(0x3f400000), spreadBits(0x3e800000)
	Label("next")
	x, y := YMM(), YMM()
	VMULPS(Mem{Base: a}, near, x)
	VMULPS(Mem{Base: b}, far, y)
	VADDPS(y, x, x)
	VMOVUPS(x, Mem{Base: dst})
	ADDQ(step, a)
	ADDQ(step, b)
	ADDQ(stepDst, dst)
	DECQ(n)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// apart writes the kernel of the transpose of between:
//
//	dst[i·stepDst] = ((¼·a + ¾·b) + ¾·c) + ¼·d, all at [i·step]
func apart() {
	TEXT("apartAVX2", NOSPLIT,
		"func(n int, a, b, c, d *float32, step int, dst *float32, stepDst int)")
	Pragma("noescape")
	n, step := pointer("n"), pointer("step")
	from := []GPVirtual{pointer("a"), pointer("b"), pointer("c"), pointer("d")}
	dst, stepDst := pointer("dst"), pointer("stepDst")
	near, far := spreadBits(0x3f400000), spreadBits(0x3e800000)
	Label("next")
	sum := YMM()
	VMULPS(Mem{Base: from[0]}, far, sum)
	for i, weight := range []VecVirtual{near, near, far} {
		x := YMM()
		VMULPS(Mem{Base: from[i+1]}, weight, x)
		VADDPS(x, sum, sum)
	}
	VMOVUPS(sum, Mem{Base: dst})
	for _, p := range from {
		ADDQ(step, p)
	}
	ADDQ(stepDst, dst)
	DECQ(n)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// spreadBits fills a vector with a float32 number.
func spreadBits(bits uint32) VecVirtual {
	r, x := GP32(), YMM()
	MOVL(U32(bits), r)
	VMOVD(r, x.AsX())
	VBROADCASTSS(x.AsX(), x)
	return x
}

func image() {
	raise(1)
	raise(8)
	between()
	apart()
	lift()
	columns()
}

// lift writes the kernel that copies windows of an image line by line. For each of outer ≥ 1 steps
// in src it copies inner ≥ 1 pieces of vecs ≥ 1 vectors of eight. Steps are in bytes. Pieces are
// written in order, so each piece overwrites the excess numbers of the previous piece.
func lift() {
	TEXT("liftAVX2", NOSPLIT, "func(outer, inner, vecs int, src *float32, stepOuter, stepInner int, "+
		"dst *float32, stepDst int)")
	Pragma("noescape")
	outer, vecs, src, dst := pointer("outer"), pointer("vecs"), pointer("src"), pointer("dst")
	stepOuter, stepInner, stepDst := pointer("stepOuter"), pointer("stepInner"), pointer("stepDst")
	SHLQ(U8(5), vecs)
	inner, from, at, x := GP64(), GP64(), GP64(), YMM()
	Label("outer")
	Load(Param("inner"), inner)
	MOVQ(src, from)
	Label("piece")
	XORQ(at, at)
	Label("vector")
	VMOVUPS(Mem{Base: from, Index: at, Scale: 1}, x)
	VMOVUPS(x, Mem{Base: dst, Index: at, Scale: 1})
	ADDQ(U8(32), at)
	CMPQ(at, vecs)
	JNE(LabelRef("vector"))
	ADDQ(stepInner, from)
	ADDQ(stepDst, dst)
	DECQ(inner)
	JNZ(LabelRef("piece"))
	ADDQ(stepOuter, src)
	DECQ(outer)
	JNZ(LabelRef("outer"))
	VZEROUPPER()
	RET()
}

// columns writes the kernels of batch normalization, for n ≥ 1 rows of eight columns, stride bytes
// apart. Sums are in float64, with one chain for each column. They start at the values in memory.
func columns() {
	wideOf := func(m Mem) [2]VecVirtual { // eight float32 numbers as float64
		lo, hi := YMM(), YMM()
		VCVTPS2PD(m, lo)
		VCVTPS2PD(m.Offset(16), hi)
		return [2]VecVirtual{lo, hi}
	}
	doubles := func(name string) (p GPVirtual, x [2]VecVirtual) {
		p = pointer(name)
		return p, [2]VecVirtual{load(Mem{Base: p}), load(Mem{Base: p, Disp: 32})}
	}
	keep := func(p GPVirtual, x [2]VecVirtual) {
		VMOVUPS(x[0], Mem{Base: p})
		VMOVUPS(x[1], Mem{Base: p, Disp: 32})
	}
	rows := func(operands []string, body func(at []GPVirtual)) {
		n, stride := pointer("n"), pointer("stride")
		var at []GPVirtual
		for _, name := range operands {
			at = append(at, pointer(name))
		}
		Label("row")
		body(at)
		for _, p := range at {
			ADDQ(stride, p)
		}
		DECQ(n)
		JNZ(LabelRef("row"))
	}
	leave := func() {
		VZEROUPPER()
		RET()
	}

	TEXT("columnSlopesAVX2", NOSPLIT, "func(n int, src, delta *float32, stride int, mean, scale "+
		"*float32, along, total *float64)")
	Pragma("noescape")
	alongAt, along := doubles("along")
	totalAt, total := doubles("total")
	mean, scale := load(Mem{Base: pointer("mean")}), load(Mem{Base: pointer("scale")})
	rows([]string{"src", "delta"}, func(at []GPVirtual) {
		hat := load(Mem{Base: at[0]})
		VSUBPS(mean, hat, hat)
		VMULPS(scale, hat, hat)
		half := YMM()
		VEXTRACTF128(U8(1), hat, half.AsX())
		hats := [2]VecVirtual{YMM(), YMM()}
		VCVTPS2PD(hat.AsX(), hats[0])
		VCVTPS2PD(half.AsX(), hats[1])
		for i, v := range wideOf(Mem{Base: at[1]}) {
			VADDPD(v, total[i], total[i])
			VMULPD(hats[i], v, v)
			VADDPD(v, along[i], along[i])
		}
	})
	keep(alongAt, along)
	keep(totalAt, total)
	leave()

	TEXT("normalizeAVX2", NOSPLIT, "func(n int, dst, src *float32, stride int, mean, scale, gain, "+
		"shift *float32)")
	Doc("The rows of dst and of src are stride bytes apart.")
	Pragma("noescape")
	mean, scale = load(Mem{Base: pointer("mean")}), load(Mem{Base: pointer("scale")})
	gain, shift := load(Mem{Base: pointer("gain")}), load(Mem{Base: pointer("shift")})
	rows([]string{"src", "dst"}, func(at []GPVirtual) {
		x := load(Mem{Base: at[0]})
		VSUBPS(mean, x, x)
		VMULPS(scale, x, x)
		VMULPS(gain, x, x)
		VADDPS(shift, x, x)
		VMOVUPS(x, Mem{Base: at[1]})
	})
	leave()

	TEXT("normalizeGradientAVX2", NOSPLIT, "func(n int, src, delta, dst *float32, stride int, mean, "+
		"scale, factor, along, total *float32)")
	Doc("It sets dst to factor·δ − total − along·x̂.")
	Pragma("noescape")
	mean, scale = load(Mem{Base: pointer("mean")}), load(Mem{Base: pointer("scale")})
	factor, a, t := load(Mem{Base: pointer("factor")}), load(Mem{Base: pointer("along")}),
		load(Mem{Base: pointer("total")})
	rows([]string{"src", "delta", "dst"}, func(at []GPVirtual) {
		hat, v := load(Mem{Base: at[0]}), load(Mem{Base: at[1]})
		VSUBPS(mean, hat, hat)
		VMULPS(scale, hat, hat)
		VMULPS(a, hat, hat)
		VMULPS(factor, v, v)
		VSUBPS(t, v, v)
		VSUBPS(hat, v, v)
		VMOVUPS(v, Mem{Base: at[2]})
	})
	leave()
}
