package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// noise writes the kernels of package sampler. They compute the same bits as the Go versions in
// that package.
func noise() {
	for _, lanes := range []int{4, 8} {
		addSum(lanes, "addSum", "sum *float32", rounded(lanes, VCVTPS2PD))
		addSum(lanes, "addUnits", "sum *int32", rounded(lanes, VCVTDQ2PD))
		addSum(lanes, "addWhole", "sum *int32", whole)
	}
	steps()
	stepsAhead()
	wides.write()
}

// wideConstants holds 64-bit patterns that kernels repeat over a vector.
type wideConstants []uint64

const wideConstantsName = "wideConstants"

var wides wideConstants

func (w *wideConstants) bits(b uint64) Mem {
	*w = append(*w, b)
	return NewDataAddr(NewStaticSymbol(wideConstantsName), 8*(len(*w)-1))
}

func (w *wideConstants) write() {
	GLOBL(wideConstantsName, attr.RODATA|attr.NOPTR)
	for i, b := range *w {
		DATA(8*i, U64(b))
	}
}

// vector64 returns a register of 4 (AVX2) or 8 (AVX-512) numbers of 64 bits.
func vector64(lanes int) VecVirtual {
	if lanes == 8 {
		return ZMM()
	}
	return YMM()
}

// repeated returns a register with one number in all lanes.
func repeated(lanes int, m Mem) VecVirtual {
	x := vector64(lanes)
	VBROADCASTSD(m, x)
	return x
}

func number(lanes int, v float64) VecVirtual {
	return repeated(lanes, wides.bits(math.Float64bits(v)))
}

// addSum writes a kernel that converts sums to a whole number of steps, adds noise in steps, and
// multiplies by the size of a step. Sums are float32 or int32 numbers, which one instruction
// converts to float64.
func addSum(lanes int, name, param string, steps func(inverse VecVirtual) func(sum, noise Mem,
	x VecVirtual)) {
	level := map[int]string{4: "AVX2", 8: "AVX512"}[lanes]
	TEXT(name+level, NOSPLIT, "func(n int, noisy *float64, "+param+", inverse, grid float64)")
	Doc(name + level + fmt.Sprintf(" is "+name+" for n numbers, where n is a multiple of %d.", lanes))
	Pragma("noescape")
	n, noisy, sum := pointer("n"), pointer("noisy"), pointer("sum")
	inverse, grid := repeated(lanes, argument("inverse")), repeated(lanes, argument("grid"))
	add := steps(inverse)
	for _, vectors := range []int{4, 1} {
		label, behind := fmt.Sprintf("loop%d", vectors), fmt.Sprintf("behind%d", vectors)
		numbers := vectors * lanes
		SUBQ(U8(numbers), n)
		JL(LabelRef(behind))
		Label(label)
		for i := range vectors {
			x, noise := vector64(lanes), Mem{Base: noisy, Disp: 8 * lanes * i}
			add(Mem{Base: sum, Disp: 4 * lanes * i}, noise, x)
			VMULPD(grid, x, x)
			VMOVUPD(x, noise)
		}
		ADDQ(U32(4*numbers), sum)
		ADDQ(U32(8*numbers), noisy)
		SUBQ(U8(numbers), n)
		JGE(LabelRef(label))
		Label(behind)
		ADDQ(U8(numbers), n)
	}
	VZEROUPPER()
	RET()
}

// rounded handles sums of any size. It rounds them to the nearest step and clamps them to the
// public limits.
func rounded(lanes int, convert func(...Op)) func(VecVirtual) func(sum, noise Mem, x VecVirtual) {
	return func(inverse VecVirtual) func(sum, noise Mem, x VecVirtual) {
		low, high, nearest := number(lanes, -0x1p51), number(lanes, 0x1p51), number(lanes, 0x1.8p52)
		return func(sum, noise Mem, x VecVirtual) {
			convert(sum, x)
			VMULPD(inverse, x, x)
			clampStep(lanes, x, low, high)
			VADDPD(nearest, x, x)
			VSUBPD(nearest, x, x)
			VADDPD(noise, x, x)
		}
	}
}

// whole handles sums that are a whole number of steps within the limits. For such sums, one
// multiply-add is exact.
func whole(inverse VecVirtual) func(sum, noise Mem, x VecVirtual) {
	return func(sum, noise Mem, x VecVirtual) {
		VCVTDQ2PD(sum, x)
		VFMADD213PD(noise, inverse, x)
	}
}

// clampStep replaces NaN with zero and clamps x to the limits.
func clampStep(lanes int, x, low, high VecVirtual) {
	const ordered = 7
	if lanes == 8 {
		valid := K()
		VCMPPD(U8(ordered), x, x, valid)
		VMINPD_Z(high, x, valid, x)
	} else {
		valid := YMM()
		VCMPPD(U8(ordered), x, x, valid)
		VANDPD(valid, x, x)
		VMINPD(high, x, x)
	}
	VMAXPD(low, x, x)
}

// steps writes the kernel that computes eight draws at a time from eight words. The kernel stops at
// the first word that does not determine its draw.
//
//	layers  512 pairs: the width of a layer and the bound on words that are inside it
//	half, mask, edge, shift  as in type coarse
func steps() {
	TEXT("stepsAVX512", NOSPLIT,
		"func(n int, dst *float64, words, layers *uint64, half, mask, edge, shift uint64) int")
	Doc("stepsAVX512 computes draws from n words, where n is a multiple of 8. It stops at the first word",
		"that does not determine its draw, and returns the number of draws. It may write to all of dst.")
	Pragma("noescape")
	stepsLoop(func() {})
}

// stepsAhead writes a kernel that does the same as the kernel of steps, and also encrypts four
// counter blocks for every eight draws. The rounds of the cipher use one port of the processor, and
// the draws use the other ports.
func stepsAhead() {
	TEXT("stepsAheadVAES", NOSPLIT, "func(n int, dst *float64, words, layers *uint64, half, mask, "+
		"edge, shift uint64, to *uint64, schedule *byte, first, number uint64) int")
	Doc("stepsAheadVAES is like stepsAVX512, and also writes eight words of keystream to to for every",
		"eight words that it reads, including the eight words at which it stops.")
	Pragma("noescape")
	to, keys := pointer("to"), roundKeys(pointer("schedule"))
	counter := counterBlocks()
	stepsLoop(func() {
		block := ZMM()
		VPSHUFB(counterTable(2), counter, block)
		VPADDQ(counterTable(1), counter, counter)
		encrypt([]VecVirtual{block}, keys)
		VMOVDQU64(block, Mem{Base: to})
		ADDQ(U8(64), to)
	})
	writeCounterTables()
}

// stepsLoop writes the loop of both kernels. beside writes instructions that run once for every
// eight words, before the kernel uses these words.
func stepsLoop(beside func()) {
	n, dst, words, layers := pointer("n"), pointer("dst"), pointer("words"), pointer("layers")
	half, mask := repeated(8, argument("half")), repeated(8, argument("mask"))
	edge, shift := repeated(8, argument("edge")), repeated(8, argument("shift"))
	negative := repeated(8, wides.bits(1<<9))
	zero, at := ZMM(), GP64()
	VPXORQ(zero, zero, zero)
	XORQ(at, at)
	decided := GP32()
	CMPQ(at, n)
	JGE(LabelRef("end"))
	Label("loop")
	beside()
	word := ZMM()
	VMOVDQU64(Mem{Base: words, Index: at, Scale: 8}, word)
	width, inner := layer(words, at, layers)

	inside, sure, minus := K(), K(), K()
	VPCMPUQ(U8(1), inner, word, inside)
	position, low, fraction := ZMM(), ZMM(), ZMM()
	VPSRLQ(U8(12), word, position)
	VPSRLQ(U8(11), width, width)
	VMOVDQA64(half, low)
	VPMADD52HUQ(width, position, low)
	VPANDQ(mask, low, fraction)
	VPCMPUQ(U8(1), edge, fraction, inside, sure)
	VPSRLVQ(shift, low, low)
	VPTESTMQ(negative, word, minus)
	VPSUBQ(low, zero, minus, low)
	VCVTQQ2PD(low, low)
	VMOVUPD(low, Mem{Base: dst, Index: at, Scale: 8})
	KMOVB(sure, decided)
	CMPL(decided, U32(0xff))
	JNE(LabelRef("stop"))
	ADDQ(U8(8), at)
	CMPQ(at, n)
	JL(LabelRef("loop"))
	JMP(LabelRef("end"))

	Label("stop")
	NOTL(decided)
	BSFL(decided, decided)
	ADDQ(decided.As64(), at)
	Label("end")
	Store(at, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// layer looks up the pairs for eight words. Combining loads of sixteen bytes is faster than gather
// instructions.
func layer(words, at, layers GPVirtual) (width, inner VecVirtual) {
	var halves [2]VecVirtual // even words, odd words
	for odd := range halves {
		var pairs [2]VecVirtual
		for i := range pairs {
			first, second := offset(words, at, 4*i+odd), offset(words, at, 4*i+odd+2)
			x := XMM()
			VMOVDQU64(Mem{Base: layers, Index: first, Scale: 1}, x)
			pairs[i] = YMM()
			VINSERTI64X2(U8(1), Mem{Base: layers, Index: second, Scale: 1}, x.AsY(), pairs[i])
		}
		halves[odd] = ZMM()
		VINSERTI64X4(U8(1), pairs[1], pairs[0].AsZ(), halves[odd])
	}
	width, inner = ZMM(), ZMM()
	VPUNPCKLQDQ(halves[1], halves[0], width)
	VPUNPCKHQDQ(halves[1], halves[0], inner)
	return width, inner
}

// offset returns the offset of the pair for word at+i: the last nine bits of the word times
// sixteen.
func offset(words, at GPVirtual, i int) GPVirtual {
	o := GP64()
	MOVL(Mem{Base: words, Index: at, Scale: 8, Disp: 8 * i}, o.As32())
	SHLL(U8(4), o.As32())
	ANDL(U32(511<<4), o.As32())
	return o
}
