package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A thin kernel multiplies 8·groups rows of a row-major A with a matrix of one to four columns. Lanes are rows: blocks of
// 8×8 are transposed in registers, so that each element stays one chain over k.
//
//	k    length of the products, at least 1
//	a    first element of A;  ar: bytes between its rows
//	b    the columns side by side, k rounded up to eight rows, zeros beyond k
//	out  what the sums start from, and where they go: column by column, 8·groups numbers each
func thin() {
	for cols := 1; cols <= 4; cols++ {
		thinKernel(cols, 1)
		if cols <= 2 {
			thinKernel(cols, 3)
		}
	}
	writeTailMask()
}

func thinKernel(cols, groups int) {
	begin(fmt.Sprintf("thin%dx%d", 8*groups, cols), "func(k int, a *float32, ar int, b, out *float32)")
	a, ar, b, out, k := pointer("a"), pointer("ar"), pointer("b"), pointer("out"), pointer("k")
	rows := newRows(a, ar, 8)
	group := []rowsOf{rows}
	for g := 1; g < groups; g++ {
		next := rows
		next.base = []GPVirtual{GP64(), GP64()}
		group = append(group, next)
	}
	group[0].reset(a)
	for g := 1; g < groups; g++ {
		start := GP64()
		LEAQ(Mem{Base: group[g-1].base[0], Index: ar, Scale: 8}, start)
		group[g].reset(start)
	}
	acc := make([][]VecVirtual, groups)
	for g := range acc {
		for n := range cols {
			acc[g] = append(acc[g], load(Mem{Base: out, Disp: 32 * (n*groups + g)}))
		}
	}
	SUBQ(U8(8), k)
	JL(LabelRef("tail"))
	Label("loop")
	thinBlock(acc, group, b, nil)
	SUBQ(U8(8), k)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(8), k)
	JZ(LabelRef("end"))
	mask := GP64()
	table := GP64()
	LEAQ(NewDataAddr(NewStaticSymbol(tailMaskName), 32), table)
	NEGQ(k)
	LEAQ(Mem{Base: table, Index: k, Scale: 4}, mask)
	thinBlock(acc, group, b, &mask)
	Label("end")
	for g := range acc {
		for n := range cols {
			VMOVUPS(acc[g][n], Mem{Base: out, Disp: 32 * (n*groups + g)})
		}
	}
	VZEROUPPER()
	RET()
}

// thinBlock advances all rows by eight columns of A.
func thinBlock(acc [][]VecVirtual, group []rowsOf, b GPVirtual, mask *GPVirtual) {
	cols := len(acc[0])
	for g, rows := range group {
		half := transposed(rows, mask)
		for k := range 8 {
			column := YMM()
			VPERM2F128(U8([2]uint8{0x20, 0x31}[k/4]), half[4+k%4], half[k%4], column)
			for n := range cols {
				x := YMM()
				VBROADCASTSS(Mem{Base: b, Disp: 4 * (k*cols + n)}, x)
				VFMADD231PS(x, column, acc[g][n])
			}
		}
		rows.step(U8(32))
	}
	ADDQ(U32(32*cols), b)
}

// transposed loads 8×8 numbers and transposes them within 128-bit halves: register i and register 4+i hold columns i and
// 4+i of the first four rows and of the last four.
func transposed(rows rowsOf, mask *GPVirtual) [8]VecVirtual {
	var r [8]VecVirtual
	var keep VecVirtual
	if mask != nil {
		keep = load(Mem{Base: *mask})
	}
	for i := range 8 {
		r[i] = YMM()
		if mask != nil {
			VMASKMOVPS(rows.at(i, 0), keep, r[i])
		} else {
			VMOVUPS(rows.at(i, 0), r[i])
		}
	}
	for i := 0; i < 8; i += 2 {
		high := YMM()
		VUNPCKHPS(r[i+1], r[i], high)
		VUNPCKLPS(r[i+1], r[i], r[i])
		r[i+1] = high
	}
	var out [8]VecVirtual
	for h := 0; h < 8; h += 4 {
		for i := range 2 {
			high := YMM()
			VUNPCKHPD(r[h+2+i], r[h+i], high)
			VUNPCKLPD(r[h+2+i], r[h+i], r[h+i])
			out[h+2*i], out[h+2*i+1] = r[h+i], high
		}
	}
	return out
}
