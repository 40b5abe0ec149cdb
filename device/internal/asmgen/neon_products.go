package main

import "fmt"

// Micro-kernels of products for arm64 have the arguments that gemm.go describes, except the mask.
// The caller handles the mask. V0 to V23 hold a tile of rows × (vecs·8) numbers of C, and V24 to
// V27 hold a row of the panel. V28 to V31 hold numbers of A, one after another.
const (
	neonRows  = 6
	panelFrom = 24
	leftFrom  = 28
)

func (f *neonFile) gemm() {
	for rows := 1; rows <= neonRows; rows++ {
		for vecs := 1; vecs <= 2; vecs++ {
			f.gemmTile(rows, vecs)
		}
	}
}

func (f *neonFile) gemmTile(rows, vecs int) {
	halves := 2 * vecs
	acc := func(row, half int) int { return row*halves + half }
	f.begin(fmt.Sprintf("gemmNEON_%dx%d", rows, vecs), "(tiles int, k int, a *float32, ar int, "+
		"ak int, b *float32, bk int, c *float32, cr int, add int)", 80)
	for i, name := range []string{"tiles", "k", "a", "ar", "ak", "b", "bk", "c"} {
		f.line("\tMOVD %s+%d(FP), R%d", name, 8*i, i)
	}
	f.line("\tMOVD cr+64(FP), R19\n\tMOVD add+72(FP), R20")
	f.line("\ntile:")
	f.line("\tMOVD R2, R8")
	for r := 1; r < rows; r++ {
		f.line("\tADD R3, R%d, R%d", 7+r, 8+r)
	}
	f.gemmStart(rows, halves, acc)
	f.line("\tMOVD R5, R14\n\tMOVD R1, R21\n\tMOVD ZR, R15")
	f.line("\nalong:")
	f.line("\tFLDPQ (R14), (F%d, F%d)", panelFrom, panelFrom+1)
	if vecs == 2 {
		f.line("\tFLDPQ 32(R14), (F%d, F%d)", panelFrom+2, panelFrom+3)
	}
	for r := range rows {
		x := leftFrom + r%4
		f.line("\tFMOVS (R%d)(R15), F%d", 8+r, x)
		for h := range halves {
			f.word("FMLA.S0", acc(r, h), panelFrom+h, x)
		}
	}
	f.line("\tADD R4, R15, R15\n\tADD R6, R14, R14\n\tSUB $1, R21, R21\n\tCBNZ R21, along")
	f.gemmFinish(rows, halves, acc)
	f.line("\tMOVD $%d, R23", rows)
	f.line("\tMADD R23, R2, R3, R2\n\tMADD R23, R7, R19, R7")
	f.line("\tSUB $1, R0, R0\n\tCBNZ R0, tile\n\tRET")
}

// gemmStart fills the tile with C, with zeros or with the origin.
func (f *neonFile) gemmStart(rows, halves int, acc func(row, half int) int) {
	f.line("\tCBZ R20, zero\n\tCMP $1, R20\n\tBNE origin")
	f.eachRow(rows, halves, "FLDPQ %s, (F%d, F%d)", acc)
	f.line("\tB started\n\norigin:")
	for i := range rows * halves {
		f.word2("DUP.SW", i, 20)
	}
	f.line("\tB started\n\nzero:")
	for i := range rows * halves {
		f.word("EOR", i, i, i)
	}
	f.line("\nstarted:")
}

// gemmFinish stores the tile in C, or adds the bits of the tile minus the bits of the origin to the
// integers of C.
func (f *neonFile) gemmFinish(rows, halves int, acc func(row, half int) int) {
	f.line("\tCMP $1, R20\n\tBLS store")
	f.word2("DUP.SW", panelFrom, 20)
	for r := range rows {
		for h := 0; h < halves; h += 2 {
			f.place(r, "R22")
			f.line("\tFLDPQ %d(R22), (F%d, F%d)", 16*h, leftFrom, leftFrom+1)
			for i := range 2 {
				f.word("SUB.S", acc(r, h+i), acc(r, h+i), panelFrom)
				f.word("ADD.S", acc(r, h+i), acc(r, h+i), leftFrom+i)
			}
		}
	}
	f.line("\nstore:")
	f.eachRow(rows, halves, "FSTPQ (F%[2]d, F%[3]d), %[1]s", acc)
}

// place sets a register to the address of a row of C.
func (f *neonFile) place(row int, to string) {
	if row == 0 {
		f.line("\tMOVD R7, %s", to)
		return
	}
	f.line("\tMOVD $%d, R23\n\tMADD R23, R7, R19, %s", row, to)
}

func (f *neonFile) eachRow(rows, halves int, format string, acc func(row, half int) int) {
	for r := range rows {
		f.place(r, "R22")
		for h := 0; h < halves; h += 2 {
			f.line("\t"+format, fmt.Sprintf("%d(R22)", 16*h), acc(r, h), acc(r, h+1))
		}
	}
}

// thin writes kernels that multiply rows of A by few columns, eight numbers at a time; see thin.go.
// The eight chains of each element start at the values in sums and are stored in sums. The caller
// adds them up.
func (f *neonFile) thin() {
	for cols := 1; cols <= 4; cols++ {
		f.thinTile(1, cols)
		f.thinTile(thinRows[cols], cols)
	}
}

func (f *neonFile) thinTile(rows, cols int) {
	acc := func(r, n, half int) int { return 2*(r*cols+n) + half }
	right := 2 * rows * cols // first register for the columns of B; registers for a row of A follow
	left := right + 2*cols
	f.begin(fmt.Sprintf("thin%dx%dNEON", rows, cols),
		"(k int, a *float32, ar int, b *float32, bk int, sums *float32)", 48)
	for i, name := range []string{"k", "a", "ar", "b", "bk", "sums"} {
		f.line("\tMOVD %s+%d(FP), R%d", name, 8*i, i)
	}
	f.line("\tMOVD R1, R8")
	for r := 1; r < rows; r++ {
		f.line("\tADD R2, R%d, R%d", 7+r, 8+r)
	}
	f.line("\tMOVD R3, R19")
	for n := 1; n < cols; n++ {
		f.line("\tADD R4, R%d, R%d", 18+n, 19+n)
	}
	for i := 0; i < rows*cols; i++ {
		f.line("\tFLDPQ %d(R5), (F%d, F%d)", 32*i, 2*i, 2*i+1)
	}
	f.line("\tCBZ R0, end\n\nloop:")
	for n := range cols {
		f.line("\tFLDPQ (R%d), (F%d, F%d)\n\tADD $32, R%d", 19+n, right+2*n, right+2*n+1, 19+n)
	}
	for r := range rows {
		f.line("\tFLDPQ (R%d), (F%d, F%d)\n\tADD $32, R%d", 8+r, left, left+1, 8+r)
		for n := range cols {
			f.word("FMLA.S", acc(r, n, 0), left, right+2*n)
			f.word("FMLA.S", acc(r, n, 1), left+1, right+2*n+1)
		}
	}
	f.line("\tSUB $8, R0\n\tCBNZ R0, loop\n\nend:")
	for i := 0; i < rows*cols; i++ {
		f.line("\tFSTPQ (F%d, F%d), %d(R5)", 2*i, 2*i+1, 32*i)
	}
	f.line("\tRET")
}

// dots writes the kernel of the inner product of float32 numbers in float64, sixteen numbers at a
// time. Its 16 chains start at the values in sums and are stored in sums.
func (f *neonFile) dots() {
	f.begin("dotNEON", "(n int, a *float32, b *float32, sums *float64)", 32)
	for i, name := range []string{"n", "a", "b", "sums"} {
		f.line("\tMOVD %s+%d(FP), R%d", name, 8*i, i)
	}
	for i := 0; i < 8; i += 2 {
		f.line("\tFLDPQ %d(R3), (F%d, F%d)", 16*i, i, i+1)
	}
	f.line("\tCBZ R0, end\n\nloop:")
	for i := 0; i < 4; i += 2 {
		f.line("\tFLDPQ %d(R1), (F%d, F%d)", 16*i, 8+i, 9+i)
		f.line("\tFLDPQ %d(R2), (F%d, F%d)", 16*i, 12+i, 13+i)
	}
	f.line("\tADD $64, R1\n\tADD $64, R2")
	for i := range 4 {
		for h, wide := range []string{"FCVTL", "FCVTL2"} {
			f.word2(wide, 16+h, 8+i)
			f.word2(wide, 18+h, 12+i)
			f.word("FMLA.D", 2*i+h, 16+h, 18+h)
		}
	}
	f.line("\tSUB $16, R0\n\tCBNZ R0, loop\n\nend:")
	for i := 0; i < 8; i += 2 {
		f.line("\tFSTPQ (F%d, F%d), %d(R3)", i, i+1, 16*i)
	}
	f.line("\tRET")
}
