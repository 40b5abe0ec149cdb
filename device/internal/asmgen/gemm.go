package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A micro-kernel holds a tile of rows × (vecs·lanes) elements of C in registers while it loops over
// k. It computes several tiles, one below the other, with the same panel of B.
//
//	tiles  number of tiles
//	k      length of the products, at least 1
//	a      first element of A;  ar, ak: bytes between its rows and between its columns
//	b      first element of the panel, whole vectors;  bk: bytes between its rows
//	c      first element of C;  cr: bytes between its rows
//	add    1 to start at C, 0 to start at zero; any other value is the bits of a float32
//	       number, the origin: the kernel starts there, and adds the bits of the result
//	       minus those of the origin to C, which holds int32 numbers
//	mask   nil, or one int32 for each lane of the last vector: C is accessed only where it is −1
const signature = "func(tiles, k int, a *float32, ar, ak int, b *float32, bk int, c *float32, cr " +
	"int, add int, mask *int32)"

func gemm() {
	for rows := 1; rows <= 6; rows++ {
		for vecs := 1; vecs <= 2; vecs++ {
			tile{rows: rows, vecs: vecs, lanes: 8}.kernel()
		}
	}
	for rows := 1; rows <= 14; rows++ {
		for vecs := 1; vecs <= 2; vecs++ {
			tile{rows: rows, vecs: vecs, lanes: 16}.kernel()
		}
	}
	tile{rows: 14, vecs: 2, lanes: 16, ahead: true}.kernel()
	for _, lanes := range []int{8, 16} {
		for rows := 1; rows <= 2; rows++ {
			for vecs := 1; vecs <= lanes/2; vecs++ {
				if vecs&(vecs-1) != 0 && (rows == 1 || lanes == 8) {
					continue // two kernels, one after the other, take its place
				}
				tile{rows: rows, vecs: vecs, lanes: lanes, long: true}.kernel()
			}
		}
	}
}

// tile is the form of a kernel's register tile. AVX2 has 8 lanes, AVX-512 has 16.
type tile struct {
	rows, vecs, lanes int
	ahead             bool // the kernel fetches the next panel; see prefetchNext
	next              GPVirtual
	// A long tile has one or two rows of up to eight vectors. Its kernel reads B in place, in long
	// pieces of rows. It accesses the last vector of B, like that of C, only where the mask is −1.
	long bool
	kept VecVirtual    // the mask of the last vector
	keep OpmaskVirtual // the same for vectors of sixteen
}

func (t tile) name() string {
	level := map[int]string{8: "AVX2", 16: "AVX512"}[t.lanes]
	name := fmt.Sprintf("gemm%s_%dx%d", level, t.rows, t.vecs)
	if t.ahead {
		name += "_ahead"
	}
	if t.long {
		name += "_long"
	}
	return name
}

func (t tile) bytes() int { return 4 * t.lanes }

func (t tile) vector() VecVirtual {
	if t.lanes == 16 {
		return ZMM()
	}
	return YMM()
}

// rowsOf addresses consecutive rows of a matrix with few registers. An x86 address scales its index
// by 1, 2 or 4; a register that holds three strides addresses the third row.
type rowsOf struct {
	base           []GPVirtual // one register for every five rows (every three rows without triple)
	stride, triple GPVirtual
	group          int
}

func newRows(base, stride GPVirtual, rows int) rowsOf {
	r := rowsOf{stride: stride, group: 3}
	if rows > 6 {
		r.group = 5
	}
	if r.group == 5 {
		r.triple = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, r.triple)
	}
	for at := 0; at < rows; at += r.group {
		r.base = append(r.base, GP64())
	}
	return r
}

// reset makes r address the rows that begin at start.
func (r rowsOf) reset(start GPVirtual) {
	MOVQ(start, r.base[0])
	for i := 1; i < len(r.base); i++ {
		if r.group == 5 {
			LEAQ(Mem{Base: r.base[i-1], Index: r.stride, Scale: 4}, r.base[i])
			ADDQ(r.stride, r.base[i])
			continue
		}
		LEAQ(Mem{Base: r.base[i-1], Index: r.stride, Scale: 2}, r.base[i])
		ADDQ(r.stride, r.base[i])
	}
}

// step advances the addresses of all rows by a number of bytes.
func (r rowsOf) step(by Op) {
	for _, b := range r.base {
		ADDQ(by, b)
	}
}

func (r rowsOf) at(row, disp int) Mem {
	m := Mem{Base: r.base[row/r.group], Disp: disp}
	switch row % r.group {
	case 1, 2, 4:
		m.Index, m.Scale = r.stride, uint8(row%r.group)
	case 3:
		m.Index, m.Scale = r.triple, 1
	}
	return m
}

func (t tile) kernel() {
	TEXT(t.name(), NOSPLIT, signature)
	Pragma("noescape")
	ar, ak, bk := GP64(), GP64(), GP64()
	a, c := GP64(), GP64()
	Load(Param("a"), a)
	Load(Param("ar"), ar)
	Load(Param("ak"), ak)
	Load(Param("bk"), bk)
	Load(Param("c"), c)
	if t.ahead {
		t.prefetchNext(bk)
	}
	if t.long {
		t.loadMask()
	}
	aRows := newRows(a, ar, t.rows)
	acc := make([][]VecVirtual, t.rows)
	for i := range acc {
		acc[i] = make([]VecVirtual, t.vecs)
		for v := range acc[i] {
			acc[i][v] = t.vector()
		}
	}

	Label("tile")
	t.start(acc, c)
	aRows.reset(a)
	t.along(acc, aRows, ar, ak, bk)
	t.finish(acc, c)
	down := GP64()
	IMUL3Q(U8(t.rows), ar, down)
	ADDQ(down, a)
	Load(Param("cr"), down)
	IMUL3Q(U8(t.rows), down, down)
	ADDQ(down, c)
	DECQ(argument("tiles"))
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// panelAhead is the distance in bytes at which the AVX-512 kernels prefetch a panel. For the first
// tile of a column, the panel is in an outer cache, and the kernel reads it faster than the
// processor prefetches automatically.
const panelAhead = 1024

// prefetchNext makes the kernel fetch the next panel of a packed matrix into the second-level cache
// while it computes with the current panel. Each step along k fetches half a cache line, so four
// tiles fetch one panel. Requests that come all at once would delay the reads of the current panel.
// The rows of panels must be adjacent.
func (t *tile) prefetchNext(bk GPVirtual) {
	t.next = GP64()
	MOVQ(argument("k"), t.next)
	IMULQ(bk, t.next)
	ADDQ(argument("b"), t.next)
}

// along writes the loop over k. For a matrix whose rows are adjacent in memory, the largest kernels
// need a single pointer, and move it after every fourth number: instructions that move pointers
// delay multiply-adds, since they use the same units of the processor.
func (t tile) along(acc [][]VecVirtual, a rowsOf, ar, ak, bk GPVirtual) {
	b, left := GP64(), GP64()
	Load(Param("b"), b)
	Load(Param("k"), left)
	if t.lanes == 16 && t.rows == 14 && !t.ahead {
		t.alongFour(acc, a, ar, ak, b, bk, left)
	}
	if t.long { // fetch a row of B eight rows ahead: rows are too far apart for the processor to do so
		t.next = GP64()
		LEAQ(Mem{Base: b, Index: bk, Scale: 8}, t.next)
	}
	Label("along")
	t.multiply(acc, func(row int) Mem { return a.at(row, 0) }, Mem{Base: b})
	if t.long {
		ADDQ(bk, t.next)
	}
	if t.ahead {
		PREFETCHT1(Mem{Base: t.next})
		ADDQ(U8(32), t.next)
	}
	a.step(ak)
	ADDQ(bk, b)
	DECQ(left)
	JNZ(LabelRef("along"))
	Label("done")
}

// alongFour writes the loop over four numbers at a time. The rest remains in left.
func (t tile) alongFour(acc [][]VecVirtual, a rowsOf, ar, ak, b, bk, left GPVirtual) {
	CMPQ(ar, U8(4))
	JNE(LabelRef("along"))
	fours, triple := GP64(), GP64()
	MOVQ(left, fours)
	SHRQ(U8(2), fours)
	JZ(LabelRef("along"))
	LEAQ(Mem{Base: bk, Index: bk, Scale: 2}, triple)
	panel := rowsOf{base: []GPVirtual{b}, stride: bk, triple: triple, group: 5}
	thrice := GP64()
	LEAQ(Mem{Base: ak, Index: ak, Scale: 2}, thrice)
	column := rowsOf{base: a.base[:1], stride: ak, triple: thrice, group: 5}
	Label("four")
	for u := range 4 {
		t.multiply(acc, func(row int) Mem { return column.at(u, 4*row) }, panel.at(u, 0))
	}
	LEAQ(Mem{Base: a.base[0], Index: ak, Scale: 4}, a.base[0])
	LEAQ(Mem{Base: b, Index: bk, Scale: 4}, b)
	DECQ(fours)
	JNZ(LabelRef("four"))
	for i := 1; i < len(a.base); i++ { // as reset does
		LEAQ(Mem{Base: a.base[i-1], Disp: 4 * a.group}, a.base[i])
	}
	ANDQ(U8(3), left)
	JZ(LabelRef("done"))
}

// loadMask loads the mask of the last vector, or a mask of all lanes.
func (t *tile) loadMask() {
	mask := pointer("mask")
	if t.lanes == 16 {
		t.keep = K()
		KXNORW(t.keep, t.keep, t.keep)
	} else {
		t.kept = YMM()
		VPCMPEQD(t.kept, t.kept, t.kept)
	}
	TESTQ(mask, mask)
	JZ(LabelRef("masked"))
	if t.lanes == 16 {
		signs := ZMM()
		VMOVDQU32(Mem{Base: mask}, signs)
		VPMOVD2M(signs, t.keep)
	} else {
		VMOVUPS(Mem{Base: mask}, t.kept)
	}
	Label("masked")
}

// loadB loads vector v of a row of the panel.
func (t tile) loadB(v int, m Mem, x VecVirtual) {
	switch {
	case !t.long || v < t.vecs-1:
		VMOVUPS(m, x)
	case t.lanes == 16:
		VMOVUPS_Z(m, t.keep, x)
	default:
		VMASKMOVPS(m, t.kept, x)
	}
}

// multiply adds to the tile the product of one column of A and one row of the panel.
func (t tile) multiply(acc [][]VecVirtual, a func(row int) Mem, b Mem) {
	bv := make([]VecVirtual, t.vecs)
	for v := range bv {
		bv[v] = t.vector()
		t.loadB(v, b.Offset(v*t.bytes()), bv[v])
	}
	switch {
	case t.long:
		for v := 0; v < t.vecs; v += 64 / t.bytes() {
			PREFETCHT0(Mem{Base: t.next, Disp: v * t.bytes()})
		}
	case t.lanes == 16:
		for v := range bv {
			PREFETCHT0(b.Offset(panelAhead + v*t.bytes()))
		}
	}
	for i := range acc {
		if t.lanes == 16 && t.vecs == 1 {
			VFMADD231PS_BCST(a(i), bv[0], acc[i][0])
			continue
		}
		x := t.vector()
		VBROADCASTSS(a(i), x)
		for v := range bv {
			VFMADD231PS(x, bv[v], acc[i][v])
		}
	}
}

// start fills the registers of the tile with C, with zeros or with the origin.
func (t tile) start(acc [][]VecVirtual, c GPVirtual) {
	CMPQ(argument("add"), U8(1))
	JEQ(LabelRef("fromC"))
	JB(LabelRef("zero"))
	t.origin(acc[0][0])
	for i, row := range acc {
		for v, x := range row {
			if i+v > 0 {
				VMOVUPS(acc[0][0], x)
			}
		}
	}
	JMP(LabelRef("started"))
	Label("fromC")
	t.move("load", acc, c, false)
	JMP(LabelRef("started"))
	Label("zero")
	for _, row := range acc {
		for _, x := range row {
			if t.lanes == 16 {
				VPXORD(x, x, x)
			} else {
				VXORPS(x, x, x)
			}
		}
	}
	Label("started")
}

// finish stores the tile in C.
func (t tile) finish(acc [][]VecVirtual, c GPVirtual) {
	CMPQ(argument("add"), U8(1))
	JBE(LabelRef("store"))
	t.harvest(acc, c)
	Label("store")
	t.move("store", acc, c, true)
}

// harvest sets the tile to the integers of C plus the bits of the tile minus the bits of the
// origin.
func (t tile) harvest(acc [][]VecVirtual, c GPVirtual) {
	cr := pointer("cr")
	rows := newRows(c, cr, t.rows)
	rows.reset(c)
	origin, spare := t.vector(), t.vector()
	t.origin(origin)
	for _, row := range acc {
		for _, x := range row {
			t.subtract(origin, x)
		}
	}
	mask := GP64()
	Load(Param("mask"), mask)
	TESTQ(mask, mask)
	JZ(LabelRef("harvest_whole"))
	var k OpmaskVirtual
	if t.lanes == 16 {
		k = K()
		VMOVDQU32(Mem{Base: mask}, spare)
		VPMOVD2M(spare, k)
	}
	for i, row := range acc {
		for v, x := range row {
			m := rows.at(i, v*t.bytes())
			switch {
			case v < t.vecs-1:
				VMOVUPS(m, spare)
			case t.lanes == 16:
				VMOVUPS_Z(m, k, spare)
			default:
				keep := YMM()
				VMOVUPS(Mem{Base: mask}, keep)
				VMASKMOVPS(m, keep, spare)
			}
			t.plus(spare, x)
		}
	}
	JMP(LabelRef("store"))
	Label("harvest_whole")
	for i, row := range acc {
		for v, x := range row {
			t.plus(rows.at(i, v*t.bytes()), x)
		}
	}
}

// origin fills a register with copies of the origin.
func (t tile) origin(x VecVirtual) {
	bits := GP64()
	Load(Param("add"), bits)
	if t.lanes == 16 {
		VPBROADCASTD(bits.As32(), x)
		return
	}
	VMOVD(bits.As32(), x.AsX())
	VBROADCASTSS(x.AsX(), x)
}

// subtract and plus are operations on int32 numbers.
func (t tile) subtract(y Op, x VecVirtual) { VPSUBD(y, x, x) }
func (t tile) plus(y Op, x VecVirtual)     { VPADDD(y, x, x) }

// move loads or stores the tile. In the last column of vectors it accesses only the lanes that the
// mask allows.
func (t tile) move(label string, acc [][]VecVirtual, c GPVirtual, store bool) {
	cr := pointer("cr")
	rows := newRows(c, cr, t.rows)
	rows.reset(c)
	mask := GP64()
	Load(Param("mask"), mask)
	TESTQ(mask, mask)
	JZ(LabelRef(label + "_whole"))
	if t.lanes == 16 {
		t.moveMasked512(acc, rows, mask, store)
	} else {
		t.moveMasked256(acc, rows, mask, store)
	}
	JMP(LabelRef(label + "_done"))
	Label(label + "_whole")
	for i, row := range acc {
		for v, x := range row {
			t.moveWhole(x, rows.at(i, v*t.bytes()), store)
		}
	}
	Label(label + "_done")
}

func (t tile) moveWhole(x VecVirtual, m Mem, store bool) {
	if store {
		VMOVUPS(x, m)
		return
	}
	VMOVUPS(m, x)
}

func (t tile) moveMasked512(acc [][]VecVirtual, rows rowsOf, mask GPVirtual, store bool) {
	signs, k := ZMM(), K()
	VMOVDQU32(Mem{Base: mask}, signs)
	VPMOVD2M(signs, k)
	last := t.vecs - 1
	for i, row := range acc {
		for v, x := range row {
			m := rows.at(i, v*t.bytes())
			switch {
			case v < last:
				t.moveWhole(x, m, store)
			case store:
				VMOVUPS(x, k, m)
			default:
				VMOVUPS_Z(m, k, x)
			}
		}
	}
}

func (t tile) moveMasked256(acc [][]VecVirtual, rows rowsOf, mask GPVirtual, store bool) {
	keep := YMM()
	VMOVUPS(Mem{Base: mask}, keep)
	last := t.vecs - 1
	for i, row := range acc {
		for v, x := range row {
			m := rows.at(i, v*t.bytes())
			switch {
			case v < last:
				t.moveWhole(x, m, store)
			case store:
				VMASKMOVPS(x, keep, m)
			default:
				VMASKMOVPS(m, keep, x)
			}
		}
	}
}

// argument returns the address of an argument on the stack.
func argument(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
