//go:build cuda && cgo

package cuda

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"gorgonia.org/cu"
)

// Promises returns a value that makes all promises. Every kernel computes each number of a row by
// the same operations, all of which round as in IEEE arithmetic, at every position and for every
// number of rows. Only whole numbers are added in an order that may change.
func (g *gpu) Promises() device.Promises {
	return device.Promises{RowsAlone: true, SameBits: true}
}

// ScaleOdd sets row i of dst to w[i] times row i of m, with every number made odd.
func (g *gpu) ScaleOdd(dst, m device.Matrix, w []float32) {
	g.wantLike("ScaleOdd", m, dst)
	wantWeights("ScaleOdd", w, m.Rows)
	if m.Empty() {
		return
	}
	g.begin()
	defer g.end()
	g.kernel(scaleOddKernel).matrix(dst).matrix(m).pointer(g.weights(w)).size(m).each(m.Rows * m.Cols)
}

func wantWeights(what string, w []float32, rows int) {
	if len(w) != rows {
		panic("cuda: " + what + ": the number of weights is wrong: want one for each row")
	}
}

// AddFixedProduct adds the terms of AᵀD to sum.
func (g *gpu) AddFixedProduct(a, d device.Matrix, sum device.FixedBlock) {
	g.wantShape("AddFixedProduct", d, a.Rows, d.Cols)
	length := sum.Chain
	if length > depth {
		length -= length % depth // whole panels
	}
	g.addTiles("AddFixedProduct", nil, length, a, d, sum)
}

// AddFixedBlocks adds the terms wᵢAᵢᵀDᵢ to sum.
func (g *gpu) AddFixedBlocks(w []float32, block int, a, d device.Matrix, sum device.FixedBlock) {
	for _, m := range [2]device.Matrix{a, d} {
		wantBlocks("AddFixedBlocks", block, len(w), m)
	}
	g.addTiles("AddFixedBlocks", w, block, a, d, sum)
}

// depth is the number of terms that a block of threads loads at a time.
const depth = 8

// addTiles adds groups of length terms, in tiles of the sum. So that there are enough blocks of
// threads, several may add to a tile.
func (g *gpu) addTiles(what string, w []float32, length int, a, d device.Matrix,
	sum device.FixedBlock) {
	g.want(what, a)
	g.want(what, d)
	units, origin := g.units(what, sum, a.Cols, d.Cols)
	int32s(what, a.Rows, a.Cols, d.Cols)
	if a.Rows == 0 || a.Cols == 0 || d.Cols == 0 || length == 0 {
		return
	}
	t := tilesOf(a.Cols, d.Cols, 64, fixedLargeKernel)
	if min(a.Cols, d.Cols) <= 32 {
		t = tilesOf(a.Cols, d.Cols, 32, fixedSmallKernel)
	}
	groups := (a.Rows + length - 1) / length
	each := min(max((groups+maxSplits-1)/maxSplits, groups*t.count/busy, 1), groups)
	g.begin()
	defer g.end()
	g.kernel(t.kernel).pointer(units).float(origin).matrix(a).matrix(d).pointer(g.weights(w)).
		int(a.Cols).int(d.Cols).int(a.Rows).int(length).int(each).int(t.across).
		launch(t.count, (groups+each-1)/each, 64)
}

// maxSplits is the largest number of blocks that add to one tile.
const maxSplits = 1 << 10

// AddFixedRows adds the terms wᵢmᵢ to sum.
func (g *gpu) AddFixedRows(w []float32, m device.Matrix, sum device.FixedBlock) {
	g.want("AddFixedRows", m)
	wantWeights("AddFixedRows", w, m.Rows)
	units, origin := g.units("AddFixedRows", sum, 1, m.Cols)
	if m.Empty() {
		return
	}
	const each = 32
	g.begin()
	defer g.end()
	g.kernel(fixedRowsKernel).pointer(units).float(origin).pointer(g.weights(w)).matrix(m).size(m).
		int(each).each((m.Rows + each - 1) / each * m.Cols)
}

// AddFixedSparse adds the terms of SᵀD to sum. As in SparseGemmT, the host transposes the lists.
func (g *gpu) AddFixedSparse(s *device.Sparse, d device.Matrix, sum device.FixedBlock) {
	wantItems("AddFixedSparse", s)
	g.wantShape("AddFixedSparse", d, s.Rows(), d.Cols)
	units, origin := g.units("AddFixedSparse", sum, s.Cols, d.Cols)
	if d.Empty() || s.Cols == 0 {
		return
	}
	g.begin()
	defer g.end()
	g.listColumns(s)
	at := g.room(listsRoom, 4*len(g.packed))
	send(at, g.packed)
	lists := at + cu.DevicePtr(4*(s.Cols+1))
	g.kernel(fixedListsKernel).pointer(units).float(origin).pointer(at).pointer(lists).matrix(d).
		int(s.Cols).int(d.Cols).each(s.Cols * d.Cols)
}

// units returns the address of a sum of the given shape, and the number at which its chains start.
func (g *gpu) units(what string, sum device.FixedBlock, rows, cols int) (at cu.DevicePtr,
	origin float32) {
	if f, e := math.Frexp(float64(sum.Unit)); f != 0.5 || e < -100 || e > 100 || sum.Chain < 1 {
		panic(fmt.Sprintf("cuda: %s: a unit of %v and chains of %d; want a power of two between 2⁻¹⁰¹ "+
			"and 2⁹⁹, and at least 1", what, sum.Unit, sum.Chain))
	}
	m := device.Matrix{Rows: sum.Rows, Cols: sum.Cols, Stride: sum.Cols, Mem: sum.Mem}
	g.wantShape(what, m, rows, cols)
	if !m.Empty() {
		at = address(m)
	}
	return at, 0x1.8p23 * sum.Unit
}
