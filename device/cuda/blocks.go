//go:build cuda && cgo

package cuda

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// tile is the number of rows and of columns that a block of threads computes at a time.
const tile = 32

// BlockProductNorms sets dst[i] to ‖AᵢᵀDᵢ‖², rounded up. It computes the cheaper of two
// expressions: the product itself, in tiles that are squared and not stored, or Σ (AAᵀ ∘ DDᵀ).
//
// Source for the Gram matrices: Rochette, Manoel and Tramel, "Efficient Per-Example Gradient
// Computations in Convolutional Neural Networks", 2019.
func (g *gpu) BlockProductNorms(dst []float64, block int, a, d device.Matrix) {
	for _, m := range [2]device.Matrix{a, d} {
		g.want("BlockProductNorms", m)
		wantBlocks("BlockProductNorms", block, len(dst), m)
	}
	if block == 0 || a.Empty() || d.Empty() {
		clear(dst)
		return
	}
	n := blockNorms{g, len(dst), block, a, d}
	g.begin()
	defer g.end()
	if block*block*(a.Cols+d.Cols) <= block*a.Cols*d.Cols {
		n.grams()
	} else {
		n.products()
	}
	fetch(dst, g.room(normsRoom, 8*len(dst)))
}

func wantBlocks(what string, block, records int, m device.Matrix) {
	if block < 0 || block*records != m.Rows {
		panic(fmt.Sprintf("cuda: %s: an operand without %d rows for each block", what, block))
	}
}

type blockNorms struct {
	g              *gpu
	records, block int
	a, d           device.Matrix
}

// roundoff bounds the relative error of a sum of k products in float32.
func roundoff(k int) float64 { return float64(k+8) * 0x1p-24 }

// underflow bounds the absolute error of a sum of k products in float32 if terms are too small for
// a normal number.
func underflow(k int) float64 { return float64(k+8) * 0x1p-149 }

// products computes the norms from the products. The error of element (k, l) is at most
// roundoff·Σ|aₖ||dₗ| + underflow, with the sum over the rows. So the error of the norm is at most
// roundoff·Σ‖a‖‖d‖ + underflow·√elements.
func (n blockNorms) products() {
	elements := math.Sqrt(float64(n.a.Cols) * float64(n.d.Cols))
	count := n.shares(blockProductsKernel, n.a.Cols, n.d.Cols)
	n.finish(finishProductsKernel,
		count).double(roundoff(n.block)).double(underflow(n.block) * elements).
		each(n.records)
}

// grams computes the norms from the Gram matrices. The error of an entry of AAᵀ is at most e‖a‖‖a′‖
// + ue. The error of an entry of DDᵀ is at most f‖d‖‖d′‖ + uf. So the error of the sum is at most
// (e+f+ef)(Σ‖a‖‖d‖)² + (1+f)ue(Σ‖d‖)² + (1+e)uf(Σ‖a‖)² + ue·uf·p².
//
// AddFixedBlocks adds the float32 product instead of the exact one. Its norm is larger by at most
// rΣ‖a‖‖d‖ + t, as in products, and its square by at most (2r+r²+2t)(Σ‖a‖‖d‖)² + 2t + t².
func (n blockNorms) grams() {
	e, f, r := roundoff(n.a.Cols), roundoff(n.d.Cols), roundoff(n.block)
	ue, uf := underflow(n.a.Cols), underflow(n.d.Cols)
	t := underflow(n.block) * math.Sqrt(float64(n.a.Cols)*float64(n.d.Cols))
	slack := (e+f+e*f)*(1+2*(e+f)) + 2*r + r*r + 2*t
	tiny := ue*uf*float64(n.block)*float64(n.block) + 2*t + t*t
	count := n.shares(blockGramsKernel, n.block, n.block)
	n.finish(finishGramsKernel, count).double(slack).double((1 + f) * ue).double((1 + e) * uf).
		double(tiny).each(n.records)
}

// shares computes a matrix of rows×cols numbers for each record, tile by tile, and returns the
// number of tiles of a record.
func (n blockNorms) shares(kernel, rows, cols int) int {
	across := (cols + tile - 1) / tile
	count := (rows + tile - 1) / tile * across
	parts := n.g.room(partsRoom, 8*n.records*count)
	n.g.kernel(kernel).pointer(parts).matrix(n.a).matrix(n.d).
		int(n.block).int(n.a.Cols).int(n.d.Cols).int(across).int(count).
		launch(n.records*count, 1, 64)
	return count
}

func (n blockNorms) finish(kernel, count int) *call {
	a := n.g.dots(n.g.room(sizesRoom, 8*n.a.Rows), n.a, n.a)
	d := n.g.dots(n.g.room(otherSizesRoom, 8*n.d.Rows), n.d, n.d)
	parts, norms := n.g.room(partsRoom, 0), n.g.room(normsRoom, 8*n.records)
	return n.g.kernel(kernel).pointer(norms).pointer(parts).int(count).pointer(a).pointer(d).int(
		n.block).int(n.records)
}
