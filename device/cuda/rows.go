//go:build cuda && cgo

package cuda

import (
	"slices"

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
	g.wantNorms(what, dst, a)
	if a.Empty() {
		clear(dst)
		return
	}
	g.begin()
	defer g.end()
	fetch(dst, g.dots(g.room(normsRoom, 8*a.Rows), a, b))
}

func (g *gpu) wantNorms(what string, dst []float64, m device.Matrix) {
	g.want(what, m)
	if len(dst) != m.Rows {
		panic("cuda: " + what + ": the number of results is wrong: want one for each row")
	}
}

// dots computes the dot products of rows and stores them on the device. The caller must have called
// begin.
func (g *gpu) dots(at cu.DevicePtr, a, b device.Matrix) cu.DevicePtr {
	g.kernel(rowDotsKernel).pointer(at).matrix(a).matrix(b).size(a).eachRow(a.Rows)
	return at
}

// Norms returns a set of norms that are brought to the host together.
func (g *gpu) Norms() interface {
	RowSquaredNorms(dst []float64, m device.Matrix)
	Wait()
} {
	return &norms{g: g}
}

// norms holds the matrices whose rows are to be measured, and where their norms go.
type norms struct {
	g    *gpu
	of   []device.Matrix
	to   [][]float64
	all  []float64
	rows int
}

// RowSquaredNorms sets dst[i] = ‖mᵢ‖², when Wait returns.
func (n *norms) RowSquaredNorms(dst []float64, m device.Matrix) {
	n.g.wantNorms("RowSquaredNorms", dst, m)
	if m.Empty() {
		clear(dst)
		return
	}
	n.of, n.to, n.rows = append(n.of, m), append(n.to, dst), n.rows+m.Rows
}

// Wait computes all norms and waits for them, once.
func (n *norms) Wait() {
	if n.rows == 0 {
		return
	}
	if len(n.all) < n.rows {
		n.all = make([]float64, n.rows)
	}
	all := n.all[:n.rows]
	n.g.begin()
	defer n.g.end()
	at := n.g.room(normsRoom, 8*n.rows)
	lo := 0
	for _, m := range n.of {
		n.g.dots(at+cu.DevicePtr(8*lo), m, m)
		lo += m.Rows
	}
	fetch(all, at)
	for _, dst := range n.to {
		all = all[copy(dst, all):]
	}
	n.of, n.to, n.rows = n.of[:0], n.to[:0], 0
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
// Weights that are already there are not copied again, because a step has the same for all layers.
func (g *gpu) weights(w []float32) cu.DevicePtr {
	if w == nil {
		return 0
	}
	at := g.room(weightsRoom, 4*len(w))
	if at != g.sentTo || !slices.Equal(w, g.sent) {
		g.sentTo, g.sent = 0, append(g.sent[:0], w...)
		send(at, w)
		g.sentTo = at
	}
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
