package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A thin kernel multiplies rows of a row-major A with a matrix of one to four columns. Lanes run
// along k: a result is the sum of eight interleaved chains, added crosswise at the end.
//
//	tiles  how many tiles of so many rows
//	k      length of the products, at least 1
//	a      first element of A;  ar: bytes between its rows
//	b      the columns of B, bk bytes apart, each with zeros up to a multiple of eight
//	c      first element of C, whose rows touch nothing else than its columns;
//	       cr: bytes between its rows
//	add    1 to add to C, 0 to overwrite it
func thin() {
	for cols := 1; cols <= 4; cols++ {
		thinKernel(cols, 1)
		thinKernel(cols, thinRows[cols])
	}
	writeTailMask()
}

// thinRows is, by columns, how many rows keep the multipliers busy and fit the registers.
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

// thinStep advances by eight columns of A, or by what the mask leaves.
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

// acrossLanes adds a vector's eight numbers up into its first: 0+4, 1+5, … then neighbours two
// apart, then the last two.
func acrossLanes(x VecVirtual) {
	other := XMM()
	VEXTRACTF128(U8(1), x, other)
	VADDPS(other, x.AsX(), x.AsX())
	VPERMILPS(U8(0x0e), x.AsX(), other)
	VADDPS(other, x.AsX(), x.AsX())
	VMOVSHDUP(x.AsX(), other)
	VADDSS(other, x.AsX(), x.AsX())
}
