package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A thin kernel multiplies rows of a row-major A by a matrix of one to four columns. Lanes run
// along k: a result is the sum of eight interleaved chains, one in each lane. The chains are added
// up at the end.
//
//	tiles  number of tiles
//	k      length of the products, at least 1
//	a      first element of A;  ar: bytes between its rows
//	b      the columns of B, bk bytes apart, each with zeros up to a multiple of eight
//	c      first element of C; only the columns of C are accessed;
//	       cr: bytes between its rows
//	add    1 to add to C, 0 to overwrite it
func thin() {
	for cols := 1; cols <= 4; cols++ {
		thinKernel(cols, 1)
		thinKernel(cols, thinRows[cols])
	}
	writeTailMask()
}

// thinRows holds, by the number of columns, the number of rows that fit into the registers.
var thinRows = [5]int{0, 4, 4, 3, 2}

func thinKernel(cols, rows int) {
	begin(fmt.Sprintf("thin%dx%d", rows, cols),
		"func(tiles, k int, a *float32, ar int, b *float32, bk int, c *float32, cr, add int)")
	a, ar, c, cr := pointer("a"), pointer("ar"), pointer("c"), pointer("cr")
	bk := pointer("bk")
	aRows := newRows(a, ar, rows)
	Label("tile")
	aRows.reset(a)
	b, k := pointer("b"), pointer("k")
	bRows := newRows(b, bk, cols)
	bRows.reset(b)
	acc := make([][]VecVirtual, rows)
	for r := range acc {
		for range cols {
			x := YMM()
			VXORPS(x, x, x)
			acc[r] = append(acc[r], x)
		}
	}
	SUBQ(U8(8), k)
	JL(LabelRef("tail"))
	Label("loop")
	thinStep(acc, aRows, bRows, nil)
	SUBQ(U8(8), k)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(8), k)
	JZ(LabelRef("sums"))
	thinStep(acc, aRows, bRows, tailMask(k))
	Label("sums")
	for r := range acc {
		for n, x := range acc[r] {
			acrossLanes(x)
			at, done := Mem{Base: c, Disp: 4 * n}, fmt.Sprintf("store%d_%d", r, n)
			CMPQ(argument("add"), U8(0))
			JEQ(LabelRef(done))
			VADDSS(at, x.AsX(), x.AsX())
			Label(done)
			VMOVSS(x.AsX(), at)
		}
		ADDQ(cr, c)
		ADDQ(ar, a)
	}
	DECQ(argument("tiles"))
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// thinStep processes eight columns of A, or the columns that the mask keeps.
func thinStep(acc [][]VecVirtual, a, b rowsOf, mask VecVirtual) {
	cols := len(acc[0])
	column := make([]VecVirtual, cols)
	for n := range column {
		column[n] = load(b.at(n, 0))
	}
	for r := range acc {
		x := YMM()
		if mask == nil {
			VMOVUPS(a.at(r, 0), x)
		} else {
			VMASKMOVPS(a.at(r, 0), mask, x)
		}
		for n := range cols {
			VFMADD231PS(x, column[n], acc[r][n])
		}
	}
	a.step(U8(32))
	b.step(U8(32))
}

// acrossLanes adds up the eight numbers of a vector in its first lane: first lanes that are four
// apart, then two apart, then the last two.
func acrossLanes(x VecVirtual) {
	other := XMM()
	VEXTRACTF128(U8(1), x, other)
	VADDPS(other, x.AsX(), x.AsX())
	VPERMILPS(U8(0x0e), x.AsX(), other)
	VADDPS(other, x.AsX(), x.AsX())
	VMOVSHDUP(x.AsX(), other)
	VADDSS(other, x.AsX(), x.AsX())
}
