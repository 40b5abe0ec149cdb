package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// An outer kernel computes whole rows of C = AB, one after the other, where A has one or two
// columns. Such products mostly write C, so C is written in the order of memory.
//
//	rows   number of rows
//	vecs   number of vectors in a row of C, at least 1
//	a      first element of A;  ar, ak: bytes between its rows and between its columns
//	b      first element of B, whole vectors;  bk: bytes between its rows
//	c      first element of C;  cr: bytes between its rows
//	add    1 to start at C, 0 to start at zero
//	mask   nil, or one int32 for each lane of the last vector: C is accessed only where it is −1
func outer() {
	for _, lanes := range []int{8, 16} {
		for depth := 1; depth <= 2; depth++ {
			outerKernel(lanes, depth)
		}
	}
}

// outerSide is the number of vectors that the inner loop computes side by side.
const outerSide = 4

func outerKernel(lanes, depth int) {
	t := tile{lanes: lanes, long: true, vecs: 1}
	TEXT(fmt.Sprintf("outer%s_%d", map[int]string{8: "AVX2", 16: "AVX512"}[lanes], depth), NOSPLIT,
		"func(rows, vecs int, a *float32, ar, ak int, b *float32, bk int, c *float32, cr, add int, "+
			"mask *int32)")
	Pragma("noescape")
	a, ar, ak, bk := pointer("a"), pointer("ar"), pointer("ak"), pointer("bk")
	t.loadMask()
	x := make([]VecVirtual, depth)
	for k := range x {
		x[k] = t.vector()
	}
	triple := GP64()
	LEAQ(Mem{Base: bk, Index: bk, Scale: 2}, triple)
	at, c, left := GP64(), GP64(), GP64()
	b := rowsOf{base: []GPVirtual{GP64()}, stride: bk, triple: triple, group: 5}
	Label("row")
	MOVQ(a, at)
	for k := range x {
		VBROADCASTSS(Mem{Base: at}, x[k])
		if k < depth-1 {
			ADDQ(ak, at)
		}
	}
	MOVQ(argument("b"), b.base[0])
	MOVQ(argument("c"), c)
	MOVQ(argument("vecs"), left)
	CMPQ(argument("add"), U8(0))
	JNE(LabelRef("add"))
	for _, add := range []bool{false, true} {
		suffix := "over"
		if add {
			suffix = "add"
			Label("add")
		}
		for _, vecs := range []int{outerSide, 1} {
			label, behind := fmt.Sprintf("%s%d", suffix, vecs), fmt.Sprintf("%sBehind%d", suffix, vecs)
			SUBQ(U8(vecs+1), left)
			JL(LabelRef(behind))
			Label(label)
			t.outerStep(vecs, x, b, c, add, false)
			SUBQ(U8(vecs), left)
			JGE(LabelRef(label))
			Label(behind)
			ADDQ(U8(vecs+1), left)
		}
		t.outerStep(1, x, b, c, add, true)
		if !add {
			JMP(LabelRef("next"))
		}
	}
	Label("next")
	ADDQ(ar, a)
	MOVQ(argument("cr"), c)
	ADDQ(c, argument("c"))
	DECQ(argument("rows"))
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// outerStep computes adjacent vectors of a row of C, and moves the pointers behind them.
func (t tile) outerStep(vecs int, x []VecVirtual, b rowsOf, c GPVirtual, add, last bool) {
	acc := make([]VecVirtual, vecs)
	for v := range acc {
		acc[v] = t.vector()
		m := Mem{Base: c, Disp: v * t.bytes()}
		switch {
		case add && last:
			t.loadB(0, m, acc[v])
		case add:
			VMOVUPS(m, acc[v])
		case t.lanes == 16:
			VPXORD(acc[v], acc[v], acc[v])
		default:
			VXORPS(acc[v], acc[v], acc[v])
		}
	}
	for k := range x {
		for v := range acc {
			VFMADD231PS(b.at(k, v*t.bytes()), x[k], acc[v])
		}
	}
	for v := range acc {
		m := Mem{Base: c, Disp: v * t.bytes()}
		switch {
		case last && t.lanes == 16:
			VMOVUPS(acc[v], t.keep, m)
		case last:
			VMASKMOVPS(acc[v], t.kept, m)
		default:
			VMOVUPS(acc[v], m)
		}
	}
	b.step(U32(vecs * t.bytes()))
	ADDQ(U32(vecs*t.bytes()), c)
}
