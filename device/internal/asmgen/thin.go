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
//	b      the columns of B, bk bytes apart
//	c      first element of C; only the columns of C are accessed;
//	       cr: bytes between its rows
//	add    1 to add to C, 0 to overwrite it
func thin() {
	for cols := 1; cols <= 4; cols++ {
		thinKernel(cols, 1)
		thinKernel(cols, thinRows[cols])
	}
	thinKernel(2, 6)
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
	ahead := newRows(a, ar, rows)
	if rows > 1 {
		next := GP64()
		IMUL3Q(U8(rows), ar, next)
		ADDQ(a, next)
		ahead.reset(next)
	}
	SUBQ(U8(16), k)
	JL(LabelRef("rest"))
	Label("loop")
	thinStep(acc, aRows, bRows, nil)
	if rows > 1 { // fetch the next tile
		for r := range rows {
			PREFETCHT0(ahead.at(r, 0))
		}
		ahead.step(U8(64))
	}
	thinStep(acc, aRows, bRows, nil)
	SUBQ(U8(16), k)
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(U8(8), k)
	JL(LabelRef("tail"))
	thinStep(acc, aRows, bRows, nil)
	SUBQ(U8(8), k)
	Label("tail")
	ADDQ(U8(8), k)
	JZ(LabelRef("sums"))
	thinStep(acc, aRows, bRows, tailMask(k))
	Label("sums")
	for r := range acc {
		if cols == 2 && rows > 1 {
			if r%2 == 0 {
				storePairs(r, append(acc[r], acc[r+1]...), c, cr)
				ADDQ(cr, c)
				ADDQ(cr, c)
			}
			ADDQ(ar, a)
			continue
		}
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
		column[n] = thinLoad(b.at(n, 0), mask)
	}
	for r := range acc {
		x := thinLoad(a.at(r, 0), mask)
		for n := range cols {
			VFMADD231PS(x, column[n], acc[r][n])
		}
	}
	a.step(U8(32))
	b.step(U8(32))
}

// thinLoad loads a vector, or the numbers of it that the mask keeps.
func thinLoad(m Mem, mask VecVirtual) VecVirtual {
	if mask == nil {
		return load(m)
	}
	x := YMM()
	VMASKMOVPS(m, mask, x)
	return x
}

// storePairs stores the sums of four vectors as two columns of two rows. It adds lanes in the same
// order as acrossLanes.
func storePairs(row int, x []VecVirtual, c, cr GPVirtual) {
	for _, v := range x {
		other := XMM()
		VEXTRACTF128(U8(1), v, other)
		VADDPS(other, v.AsX(), v.AsX())
	}
	var two [2]VecVirtual // sums of lanes two apart, for two vectors each
	for i := range two {
		p, q, other := x[2*i].AsX(), x[2*i+1].AsX(), XMM()
		two[i] = XMM()
		VUNPCKLPD(q, p, two[i])
		VUNPCKHPD(q, p, other)
		VADDPS(other, two[i], two[i])
	}
	even, odd := XMM(), XMM()
	VSHUFPS(U8(0x88), two[1], two[0], even)
	VSHUFPS(U8(0xdd), two[1], two[0], odd)
	VADDPS(odd, even, even)
	second := Mem{Base: c, Index: cr, Scale: 1}
	done := fmt.Sprintf("pairs%d", row)
	CMPQ(argument("add"), U8(0))
	JEQ(LabelRef(done))
	old := XMM()
	VMOVSD(Mem{Base: c}, old)
	VMOVHPS(second, old, old)
	VADDPS(old, even, even)
	Label(done)
	VMOVLPS(even, Mem{Base: c})
	VMOVHPS(even, second)
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
