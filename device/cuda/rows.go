//go:build cuda && cgo

package cuda

import (
	"github.com/seed7ba64551/privgen/device"
	"gorgonia.org/cu"
)

// RowSquaredNorms sets dst[i] = ‖mᵢ‖².
func (g *gpu) RowSquaredNorms(dst []float64, m device.Matrix) {
	g.rowDots("RowSquaredNorms", dst, m, m)
}

// RowDots sets dst[i] = aᵢ·bᵢ.
func (g *gpu) RowDots(dst []float64, a, b device.Matrix) { g.rowDots("RowDots", dst, a, b) }

func (g *gpu) rowDots(what string, dst []float64, a, b device.Matrix) {
	g.wantLike(what, a, b)
	if len(dst) != a.Rows {
		panic("cuda: " + what + ": the number of results is wrong: want one for each row")
	}
	if a.Empty() {
		clear(dst)
		return
	}
	g.begin()
	defer g.end()
	fetch(dst, g.dots(normsRoom, a, b))
}

// dots computes the dot products of rows and returns their address on the device. The caller must
// have called begin.
func (g *gpu) dots(room int, a, b device.Matrix) cu.DevicePtr {
	at := g.room(room, 8*a.Rows)
	g.kernel(rowDotsKernel).pointer(at).matrix(a).matrix(b).size(a).eachRow(a.Rows)
	return at
}

// ScaleRows multiplies row i by w[i].
func (g *gpu) ScaleRows(m device.Matrix, w []float32) {
	g.want("ScaleRows", m)
	if len(w) != m.Rows {
		panic("cuda: ScaleRows: the number of factors is wrong: want one for each row")
	}
	if m.Empty() {
		return
	}
	g.begin()
	defer g.end()
	g.kernel(scaleRowsKernel).matrix(m).pointer(g.weights(w)).size(m).each(m.Rows * m.Cols)
}

// weights copies the weights of rows to the device and returns their address, or zero if w is nil.
func (g *gpu) weights(w []float32) cu.DevicePtr {
	if w == nil {
		return 0
	}
	at := g.room(weightsRoom, 4*len(w))
	send(at, w)
	return at
}

// Softmax replaces each row with its softmax.
func (g *gpu) Softmax(m device.Matrix) {
	g.want("Softmax", m)
	if m.Empty() {
		return
	}
	g.begin()
	defer g.end()
	g.kernel(softmaxKernel).matrix(m).size(m).eachRow(m.Rows)
}
