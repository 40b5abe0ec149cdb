package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels in this file are the loops of views of package graphical, in float64. Each gives the
// bits of the portable loop, since products and sums have the same operands in the same order.
// There are at least one block, one run in a block and one cell in a run.

func tables() {
	scaleRuns()
	scaleEven()
	sumRuns()
	sumEven("sumPairs", "in turn to the cell at its start and the next one. n is even")
	sumEven("sumAll", "to the cell at its start")
	exponentials()
	wides.write()
}

// blocks writes a loop over blocks. The body gets the number of bytes before the cell of another
// table where the block starts.
func blocks(body func(start GPVirtual)) {
	n, starts, start := pointer("blocks"), pointer("starts"), GP64()
	Label("block")
	MOVLQSX(Mem{Base: starts}, start)
	SHLQ(U8(3), start)
	body(start)
	ADDQ(U8(4), starts)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// inFours writes a loop over n cells: four at a time, then two, then one. The body moves its
// pointers by as many cells as it is told.
func inFours(name string, n GPVirtual, body func(width int)) {
	left := GP64()
	MOVQ(n, left)
	SUBQ(U8(4), left)
	JL(LabelRef(name + "_two"))
	Label(name + "_four")
	body(4)
	SUBQ(U8(4), left)
	JGE(LabelRef(name + "_four"))
	Label(name + "_two")
	TESTQ(U32(2), left) // four less than what is left, so the last two bits are the same
	JZ(LabelRef(name + "_one"))
	body(2)
	Label(name + "_one")
	TESTQ(U32(1), left)
	JZ(LabelRef(name + "_none"))
	body(1)
	Label(name + "_none")
}

// move writes a load or a store of one, two or four cells.
func move(width int, from, to Op) {
	if width == 1 {
		VMOVSD(from, to)
	} else {
		VMOVUPD(from, to)
	}
}

// part returns the lowest cells of a register.
func part(x VecVirtual, width int) VecVirtual {
	if width == 4 {
		return x.AsY().(VecVirtual)
	}
	return x.AsX().(VecVirtual)
}

func times(width int, a Op, x VecVirtual) {
	if x = part(x, width); width == 1 {
		VMULSD(a, x, x)
	} else {
		VMULPD(a, x, x)
	}
}

func plus(width int, a Op, x VecVirtual) {
	if x = part(x, width); width == 1 {
		VADDSD(a, x, x)
	} else {
		VADDPD(a, x, x)
	}
}

// scaleRuns writes the kernel that multiplies each run of a block by the cells from its start on.
func scaleRuns() {
	begin("scaleRuns", "func(blocks int, starts *int32, times, run int, dst, table, by *float64)",
		"scaleRunsAVX2 multiplies each run of each block by the cells from the block's start on.")
	count, run := pointer("times"), pointer("run")
	dst, table, by := pointer("dst"), pointer("table"), pointer("by")
	blocks(func(start GPVirtual) {
		ADDQ(by, start)
		left := GP64()
		MOVQ(count, left)
		Label("run")
		at := GP64()
		MOVQ(start, at)
		inFours("run", run, func(width int) {
			x := YMM()
			move(width, Mem{Base: table}, part(x, width))
			times(width, Mem{Base: at}, x)
			move(width, part(x, width), Mem{Base: dst})
			for _, p := range []GPVirtual{table, at, dst} {
				ADDQ(U8(8*width), p)
			}
		})
		DECQ(left)
		JNZ(LabelRef("run"))
	})
}

// scaleEven writes the kernel that multiplies the n cells of a block in turn by the cell at its
// start and by the cell `second` places further.
func scaleEven() {
	begin("scaleEven", "func(blocks int, starts *int32, n, second int, dst, table, by *float64)",
		"scaleEvenAVX2 multiplies the n cells of each block in turn by the cell at its start and the",
		"cell `second` places further.")
	n, second := pointer("n"), pointer("second")
	dst, table, by := pointer("dst"), pointer("table"), pointer("by")
	blocks(func(start GPVirtual) {
		factors := YMM()
		ADDQ(by, start)
		VMOVSD(Mem{Base: start}, factors.AsX())
		VMOVHPD(Mem{Base: start, Index: second, Scale: 8}, factors.AsX(), factors.AsX())
		VINSERTF128(U8(1), factors.AsX(), factors, factors)
		inFours("cell", n, func(width int) {
			x := YMM()
			move(width, Mem{Base: table}, part(x, width))
			times(width, part(factors, width), x)
			move(width, part(x, width), Mem{Base: dst})
			ADDQ(U8(8*width), table)
			ADDQ(U8(8*width), dst)
		})
	})
}

// sumRuns writes the kernel that adds each run of a block to the cells from its start on.
func sumRuns() {
	begin("sumRuns", "func(blocks int, starts *int32, times, run int, dst, table *float64)",
		"sumRunsAVX2 adds each run of each block to the cells from the block's start on.")
	count, run, dst, table := pointer("times"), pointer("run"), pointer("dst"), pointer("table")
	bytes, rest := GP64(), GP64() // of a run, and of the runs of a block after the first
	MOVQ(run, bytes)
	SHLQ(U8(3), bytes)
	MOVQ(count, rest)
	DECQ(rest)
	IMULQ(bytes, rest)
	blocks(func(start GPVirtual) {
		ADDQ(dst, start)
		loops := map[int]string{4: "fours", 2: "twos", 1: "ones"}
		inFours("cell", run, func(width int) {
			sum, left, at := YMM(), GP64(), GP64()
			move(width, Mem{Base: start}, part(sum, width))
			MOVQ(count, left)
			MOVQ(table, at)
			Label(loops[width])
			plus(width, Mem{Base: at}, sum)
			ADDQ(bytes, at)
			DECQ(left)
			JNZ(LabelRef(loops[width]))
			move(width, part(sum, width), Mem{Base: start})
			ADDQ(U8(8*width), start)
			ADDQ(U8(8*width), table)
		})
		ADDQ(rest, table)
	})
}

// sumEven writes the kernel that adds the n cells of a block to the cell at its start or to a pair
// of cells there. Four sums, each of every fourth cell, are added up at the end.
func sumEven(name, to string) {
	begin(name, "func(blocks int, starts *int32, n int, dst, table *float64)",
		name+"AVX2 adds the n cells of each block "+to+".")
	n, dst, table := pointer("n"), pointer("dst"), pointer("table")
	blocks(func(start GPVirtual) {
		ADDQ(dst, start)
		sums, high := YMM(), XMM()
		VXORPD(sums, sums, sums)
		whole, last := GP64(), GP64()
		MOVQ(n, whole)
		SUBQ(U8(4), whole)
		JL(LabelRef("halves"))
		Label("four")
		VADDPD(Mem{Base: table}, sums, sums)
		ADDQ(U8(32), table)
		SUBQ(U8(4), whole)
		JGE(LabelRef("four"))
		Label("halves")
		VEXTRACTF128(U8(1), sums, high)
		low := sums.AsX()
		MOVQ(whole, last)
		TESTQ(U32(2), whole)
		JZ(LabelRef("odd"))
		VADDPD(Mem{Base: table}, low, low)
		ADDQ(U8(16), table)
		TESTQ(U32(1), last)
		JZ(LabelRef("total"))
		VADDSD(Mem{Base: table}, high, high) // the third of three
		ADDQ(U8(8), table)
		JMP(LabelRef("total"))
		Label("odd")
		TESTQ(U32(1), last)
		JZ(LabelRef("total"))
		VADDSD(Mem{Base: table}, low, low)
		ADDQ(U8(8), table)
		Label("total")
		if name == "sumPairs" {
			VADDPD(high, low, low)
			VADDPD(Mem{Base: start}, low, low)
			VMOVUPD(low, Mem{Base: start})
			return
		}
		VHADDPD(high, low, low)
		VPERMILPD(U8(1), low, high)
		VADDSD(high, low, low)
		VADDSD(Mem{Base: start}, low, low)
		VMOVSD(low, Mem{Base: start})
	})
}

// exponentials writes the kernel that does what math.Exp does on machines with fused multiply-adds:
// e^x = 2^k·(1 + r)^16 for the nearest whole k, where 1 + r = e^(y/16) by its series, and r becomes
// r·(2 + r) four times. Only x ≥ −708 have powers that are normal numbers for certain.
func exponentials() {
	begin("exp", "func(n int, dst, x *float64, top float64) int",
		"expAVX2 sets dst to e^(x−top), where no x is above top. It stops before the first four",
		"numbers that may have no normal power, and returns how many came before. n is a multiple of 4.")
	n, dst, from, at := pointer("n"), pointer("dst"), pointer("x"), GP64()
	top := repeated(4, argument("top"))
	least, one, two := number(4, -708), number(4, 1), number(4, 2)
	XORQ(at, at)
	for _, vectors := range []int{2, 1} {
		label := fmt.Sprintf("loop%d", vectors)
		Label(label)
		last := GP64()
		LEAQ(Mem{Base: at, Disp: 4 * vectors}, last)
		CMPQ(last, n)
		JG(LabelRef(label + "_end"))
		x, series, power := ymms(vectors), ymms(vectors), ymms(vectors)
		const notAtMost = 6 // true for NaN
		each := func(do func(i int)) {
			for i := range vectors {
				do(i)
			}
		}
		each(func(i int) {
			low, some := YMM(), GP32()
			VMOVUPD(Mem{Base: from, Index: at, Scale: 8, Disp: 32 * i}, x[i])
			VSUBPD(top, x[i], x[i])
			VCMPPD(U8(notAtMost), x[i], least, low)
			VMOVMSKPD(low, some)
			TESTL(some, some)
			JNZ(LabelRef(label + "_end"))
		})
		log2e := number(4, math.Log2E)
		each(func(i int) {
			whole := YMM()
			VMULPD(log2e, x[i], series[i])
			VCVTPD2DQY(series[i], power[i].AsX())
			VCVTDQ2PD(power[i].AsX(), whole)
			for _, ln2 := range []float64{0.69314718055966295651160180568695068359375,
				0.28235290563031577122588448175013436025525412068e-12} {
				VFNMADD231PD(number(4, ln2), whole, x[i])
			}
		})
		each(func(i int) { VMULPD(number(4, 0.0625), x[i], x[i]) })
		each(func(i int) { VMOVUPD(number(4, 2.4801587301587301587e-5), series[i]) })
		for _, c := range []float64{1.9841269841269841270e-4, 1.3888888888888888889e-3,
			8.3333333333333333333e-3, 4.1666666666666666667e-2, 1.6666666666666666667e-1, 0.5, 1} {
			term := number(4, c)
			each(func(i int) { VFMADD213PD(term, x[i], series[i]) })
		}
		each(func(i int) { VMULPD(series[i], x[i], x[i]) })
		for range 3 {
			each(func(i int) {
				VADDPD(two, x[i], series[i])
				VMULPD(series[i], x[i], x[i])
			})
		}
		bias := repeated(4, wides.bits(1023))
		each(func(i int) {
			VADDPD(two, x[i], series[i])
			VFMADD213PD(one, series[i], x[i])
			VPMOVSXDQ(power[i].AsX(), power[i])
			VPADDQ(bias, power[i], power[i])
			VPSLLQ(U8(52), power[i], power[i])
			VMULPD(power[i], x[i], x[i])
			VMOVUPD(x[i], Mem{Base: dst, Index: at, Scale: 8, Disp: 32 * i})
		})
		MOVQ(last, at)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	VZEROUPPER()
	Store(at, ReturnIndex(0))
	RET()
}

func ymms(n int) (list []VecVirtual) {
	for range n {
		list = append(list, YMM())
	}
	return list
}
