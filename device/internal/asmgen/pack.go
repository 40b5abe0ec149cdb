package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// copyRows writes the kernel that packs operands with contiguous rows. It copies k rows of whole
// vectors, stride bytes apart, to adjacent places. If a mask is given, it selects lanes of the last
// vector. Only these lanes are read, and the other lanes become zero.
func copyRows(level string, lanes, vecs int) {
	TEXT(fmt.Sprintf("packRows%s_%d", level, vecs), NOSPLIT,
		"func(k int, src *float32, stride int, dst *float32, mask *int32)")
	Pragma("noescape")
	k, src, stride, dst, mask := pointer("k"), pointer("src"), pointer("stride"), pointer("dst"),
		pointer("mask")
	ahead := GP64()
	LEAQ(Mem{Base: src, Index: stride, Scale: 8}, ahead)
	t := tile{lanes: lanes}
	rows := func(label string, last func(from Mem, x VecVirtual)) {
		Label(label)
		PREFETCHT0(Mem{Base: ahead})
		if vecs*lanes > 16 {
			PREFETCHT0(Mem{Base: ahead, Disp: 64})
		}
		for v := range vecs {
			x := t.vector()
			from := Mem{Base: src, Disp: v * t.bytes()}
			if v == vecs-1 {
				last(from, x)
			} else {
				VMOVUPS(from, x)
			}
			VMOVUPS(x, Mem{Base: dst, Disp: v * t.bytes()})
		}
		ADDQ(stride, src)
		ADDQ(stride, ahead)
		ADDQ(U32(vecs*t.bytes()), dst)
		DECQ(k)
		JNZ(LabelRef(label))
		VZEROUPPER()
		RET()
	}
	TESTQ(mask, mask)
	JNZ(LabelRef("some"))
	rows("whole", func(from Mem, x VecVirtual) { VMOVUPS(from, x) })
	Label("some")
	if lanes == 16 {
		signs, keep := ZMM(), K()
		VMOVDQU32(Mem{Base: mask}, signs)
		VPMOVD2M(signs, keep)
		rows("masked", func(from Mem, x VecVirtual) { VMOVUPS_Z(from, keep, x) })
		return
	}
	keep := load(Mem{Base: mask})
	rows("masked", func(from Mem, x VecVirtual) { VMASKMOVPS(from, keep, x) })
}

// transposeRows writes the kernel that packs operands with contiguous columns. It transposes eight
// rows of 8·blocks numbers, stride bytes apart, to 8·blocks rows of eight numbers, width bytes
// apart.
func transposeRows() {
	TEXT("packColumnsAVX2", NOSPLIT,
		"func(blocks int, src *float32, stride int, dst *float32, width int)")
	Pragma("noescape")
	blocks, src, stride, dst, width := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("blocks"), blocks)
	Load(Param("src"), src)
	Load(Param("stride"), stride)
	Load(Param("dst"), dst)
	Load(Param("width"), width)
	from, to := newRows(src, stride, 8), newRows(dst, width, 8)
	from.reset(src)
	to.reset(dst)
	step := GP64()
	MOVQ(width, step)
	SHLQ(U8(3), step)
	Label("block")
	// Load rows i and i+4 into the same register, so no step has to move numbers between halves of
	// registers.
	var r [8]VecVirtual
	for i := range 4 {
		for h := range 2 {
			x := YMM()
			VMOVUPS(from.at(i, 16*h), x.AsX())
			VINSERTF128(U8(1), from.at(i+4, 16*h), x, x)
			r[4*h+i] = x
		}
	}
	for h := range 2 {
		q := r[4*h : 4*h+4]
		lo01, hi01, lo23, hi23 := YMM(), YMM(), YMM(), YMM()
		VUNPCKLPS(q[1], q[0], lo01)
		VUNPCKHPS(q[1], q[0], hi01)
		VUNPCKLPS(q[3], q[2], lo23)
		VUNPCKHPS(q[3], q[2], hi23)
		for i := range 4 {
			x := YMM()
			a, b := lo01, lo23
			if i >= 2 {
				a, b = hi01, hi23
			}
			if i%2 == 0 {
				VUNPCKLPD(b, a, x)
			} else {
				VUNPCKHPD(b, a, x)
			}
			VMOVUPS(x, to.at(4*h+i, 0))
		}
	}
	from.step(U8(32))
	to.step(step)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

func pack() {
	copyRows("AVX2", 8, 1)
	copyRows("AVX2", 8, 2)
	copyRows("AVX512", 16, 1)
	copyRows("AVX512", 16, 2)
	transposeRows()
	splitPairs()
	joinPairs()
}

// splitPairs writes the kernel that copies blocks of eight pairs of numbers to two slices.
func splitPairs() {
	begin("splitPairs", "func(blocks int, src, x, y *float32)")
	blocks, src, x, y := pointer("blocks"), pointer("src"), pointer("x"), pointer("y")
	Label("block")
	p, q := load(Mem{Base: src}), load(Mem{Base: src, Disp: 32})
	for half, to := range []GPVirtual{x, y} {
		v := YMM()
		VSHUFPS(U8(0x88+0x55*half), q, p, v) // pairs 0, 1, 4, 5, 2, 3, 6, 7
		VPERMPD(U8(0xd8), v, v)
		VMOVUPS(v, Mem{Base: to})
	}
	ADDQ(U8(64), src)
	ADDQ(U8(32), x)
	ADDQ(U8(32), y)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// joinPairs writes the kernel that copies two slices of 8·blocks numbers to pairs of numbers.
func joinPairs() {
	begin("joinPairs", "func(blocks int, x, y, dst *float32)")
	blocks, x, y, dst := pointer("blocks"), pointer("x"), pointer("y"), pointer("dst")
	Label("block")
	p, q := load(Mem{Base: x}), load(Mem{Base: y})
	lo, hi, first, second := YMM(), YMM(), YMM(), YMM()
	VUNPCKLPS(q, p, lo) // pairs 0, 1, 4, 5
	VUNPCKHPS(q, p, hi) // pairs 2, 3, 6, 7
	VPERM2F128(U8(0x20), hi, lo, first)
	VPERM2F128(U8(0x31), hi, lo, second)
	VMOVUPS(first, Mem{Base: dst})
	VMOVUPS(second, Mem{Base: dst, Disp: 32})
	ADDQ(U8(32), x)
	ADDQ(U8(32), y)
	ADDQ(U8(64), dst)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
