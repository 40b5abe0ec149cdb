//go:build cuda && cgo

package cuda

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"gorgonia.org/cu"
)

// Gemm sets C = α op(A) op(B) + β C.
//
// Guarantee: element (i, j) is the chain of multiply-adds that the CPU computes, whatever the other
// rows and columns. Tiles of another size change only the time that a product takes.
func (g *gpu) Gemm(transA, transB bool, alpha float32, a, b device.Matrix, beta float32,
	c device.Matrix) {
	g.want("Gemm: A", a)
	g.want("Gemm: B", b)
	x, y := operand{a.Rows, a.Cols, a.Stride, 1}, operand{b.Cols, b.Rows, 1, b.Stride}
	if transA {
		x = x.turned()
	}
	if transB {
		y = y.turned()
	}
	m, n, k := x.count, y.count, x.terms
	if y.terms != k {
		panic(fmt.Sprintf("cuda: Gemm: %d×%d by %d×%d", m, k, y.terms, n))
	}
	g.wantShape("Gemm: C", c, m, n)
	int32s("Gemm", m, n, k)
	if c.Empty() {
		return
	}
	g.begin()
	defer g.end()
	switch {
	case k == 0 || alpha == 0:
		g.scale(c, beta)
	case n <= thinColumns && !transA:
		g.kernel(thinProductKernel).matrix(c).float(alpha).float(beta).matrix(a).row(b).int(y.term).
			int(y.index).int(m).int(n).int(k).each(8 * m * n)
	default:
		t := tilesOf(m, n, 64, productLargeKernel)
		if t.count < busy {
			t = tilesOf(m, n, 32, productSmallKernel)
		}
		g.kernel(t.kernel).matrix(c).float(alpha).float(beta).row(a).int(x.term).int(x.index).
			row(b).int(y.term).int(y.index).int(m).int(n).int(k).int(t.across).launch(t.count, 1, 64)
	}
}

// thinColumns is the largest number of columns of a result whose elements are added up in eight
// chains, as on the CPU.
const thinColumns = 4

// operand describes an operand of a product: its rows or columns, its terms, and the distances
// between them.
type operand struct{ count, terms, index, term int }

func (o operand) turned() operand { return operand{o.terms, o.count, o.term, o.index} }

// tiles is the division of a matrix into square tiles, one for each block of threads.
type tiles struct{ kernel, across, count int }

// busy is a number of blocks of 64 threads that keeps a large device busy.
const busy = 264

// tilesOf divides a matrix into tiles of the given side.
func tilesOf(rows, cols, side, kernel int) tiles {
	across := (cols + side - 1) / side
	return tiles{kernel, across, (rows + side - 1) / side * across}
}

// scale multiplies m by β. The caller must have called begin.
func (g *gpu) scale(m device.Matrix, beta float32) {
	if beta == 1 {
		return
	}
	flat(&m)
	g.kernel(scaleAllKernel).matrix(m).float(beta).size(m).each(m.Rows * m.Cols)
}

// SparseGemm sets C = S W + β C.
func (g *gpu) SparseGemm(s *device.Sparse, w device.Matrix, beta float32, c device.Matrix) {
	wantItems("SparseGemm", s)
	g.want("SparseGemm", w)
	if w.Rows != s.Cols {
		panic(fmt.Sprintf("cuda: SparseGemm: %d sparse columns for %d dense rows", s.Cols, w.Rows))
	}
	g.wantShape("SparseGemm", c, s.Rows(), w.Cols)
	if c.Empty() {
		return
	}
	g.begin()
	defer g.end()
	g.listRows(s)
	g.addRows(w, beta, c)
}

// SparseGemmT sets C = Sᵀ D + β C. The host transposes the lists of S, so one thread of the device
// computes each sum.
func (g *gpu) SparseGemmT(s *device.Sparse, d device.Matrix, beta float32, c device.Matrix) {
	wantItems("SparseGemmT", s)
	g.wantShape("SparseGemmT", d, s.Rows(), d.Cols)
	g.wantShape("SparseGemmT", c, s.Cols, d.Cols)
	if c.Empty() {
		return
	}
	g.begin()
	defer g.end()
	g.listColumns(s)
	g.addRows(d, beta, c)
}

// addRows sets each row of c to β times the row plus the rows of src that the row's list names. The
// lists are in g.packed: first the positions at which the lists begin, then all lists in sequence.
func (g *gpu) addRows(src device.Matrix, beta float32, c device.Matrix) {
	if src.Empty() {
		g.scale(c, beta)
		return
	}
	at := g.room(listsRoom, 4*len(g.packed))
	send(at, g.packed)
	lists := at + cu.DevicePtr(4*(c.Rows+1))
	g.kernel(addRowsKernel).matrix(c).float(beta).pointer(at).pointer(lists).matrix(src).size(c).each(
		c.Rows * c.Cols)
}

// listRows packs, for each row of s, the list of columns in which the row has ones.
func (g *gpu) listRows(s *device.Sparse) {
	rows := s.Rows()
	g.packed = grown(g.packed, rows+1)
	g.packed[0] = 0
	if rows == 0 {
		return
	}
	first := s.Offsets[0]
	for i, o := range s.Offsets {
		g.packed[i] = uint32(o - first)
	}
	g.packed = append(g.packed, s.Items[first:s.Offsets[rows]]...)
}

// listColumns packs, for each column of s, the ordered list of rows with a one in this column.
func (g *gpu) listColumns(s *device.Sparse) {
	g.packed = grown(g.packed, s.Cols+1)
	clear(g.packed)
	for i := range s.Rows() {
		for _, item := range s.Row(i) {
			g.packed[item+1]++
		}
	}
	for c := range s.Cols {
		g.packed[c+1] += g.packed[c]
	}
	ones := int(g.packed[s.Cols])
	g.packed = append(g.packed, make([]uint32, ones)...)
	begins, lists := g.packed[:s.Cols+1], g.packed[s.Cols+1:]
	for i := range s.Rows() {
		// begins[item] moves from the beginning of its list to the end, where the next list begins
		for _, item := range s.Row(i) {
			lists[begins[item]] = uint32(i)
			begins[item]++
		}
	}
	copy(begins[1:], begins[:s.Cols])
	begins[0] = 0
}

func grown(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n, n+n/4)
	}
	return s[:n]
}

// wantItems panics unless every item is the number of a column and the numbers of items, rows and
// columns fit into 31 bits.
func wantItems(what string, s *device.Sparse) {
	for i := range s.Rows() {
		for _, item := range s.Row(i) {
			if int64(item) >= int64(s.Cols) {
				// The item and its row are private.
				panic(fmt.Sprintf("cuda: %s: a row lists an item outside the %d columns", what, s.Cols))
			}
		}
	}
	if rows := s.Rows(); rows > 0 {
		int32s(what, s.Offsets[rows]-s.Offsets[0], rows, s.Cols)
	}
}
