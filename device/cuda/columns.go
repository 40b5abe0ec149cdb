//go:build cuda && cgo

package cuda

import "github.com/seed7ba64551/privgen/device"

// strip is the number of columns that a block of threads sums up.
const strip = 32

// segments returns the number of parts into which the rows of a matrix are divided for a reduction
// along columns.
func segments(rows int) int { return min(max(rows/64, 1), 64) }

// along launches a reduction along the columns of m.
func (c *call) along(m device.Matrix) {
	c.size(m).int(segments(m.Rows)).launch((m.Cols+strip-1)/strip, segments(m.Rows), 256)
}

// ColSums sets dst = Σ wᵢ mᵢ + β dst.
func (g *gpu) ColSums(w []float32, m device.Matrix, beta float32, dst device.Matrix) {
	g.want("ColSums", m)
	g.wantShape("ColSums", dst, 1, m.Cols)
	if w != nil && len(w) != m.Rows {
		panic("cuda: ColSums: the number of weights is wrong: want one for each row")
	}
	if m.Cols == 0 {
		return
	}
	g.begin()
	defer g.end()
	if m.Rows == 0 {
		g.scale(dst, beta)
		return
	}
	parts, n := g.room(partsRoom, 8*segments(m.Rows)*m.Cols), segments(m.Rows)
	g.kernel(columnSumsKernel).pointer(parts).pointer(g.weights(w)).matrix(m).along(m)
	g.kernel(finishSumsKernel).row(dst).pointer(parts).int(n).int(m.Cols).float(beta).each(m.Cols)
}

// Moments sets stats to the columns' means and reciprocal standard deviations.
func (g *gpu) Moments(stats, m device.Matrix, eps float32) {
	g.want("Moments", m)
	g.wantShape("Moments", stats, 2, m.Cols)
	if m.Cols == 0 {
		return
	}
	g.begin()
	defer g.end()
	if m.Rows == 0 {
		// A matrix without rows has column sums of 0, so mean and variance are 0.
		m = device.Matrix{Cols: m.Cols, Mem: stats.Mem}
	}
	n, rows := segments(m.Rows), float64(max(m.Rows, 1))
	parts, means := g.room(partsRoom, 8*n*m.Cols), g.room(meansRoom, 8*m.Cols)
	first, second := stats.RowRange(0, 1), stats.RowRange(1, 2)
	g.kernel(columnSumsKernel).pointer(parts).pointer(0).matrix(m).along(m)
	g.kernel(finishMeansKernel).row(first).pointer(means).pointer(parts).int(n).int(m.Cols).double(
		rows).each(m.Cols)
	g.kernel(columnSpreadsKernel).pointer(parts).pointer(means).matrix(m).along(m)
	g.kernel(finishScalesKernel).row(second).pointer(parts).int(n).int(m.Cols).double(rows).float(
		eps).each(m.Cols)
}

// Normalize sets dst = gain·(src − mean)·scale + shift.
func (g *gpu) Normalize(dst, src, stats, gain, shift device.Matrix) {
	g.wantLike("Normalize", src, dst)
	g.wantShape("Normalize", stats, 2, src.Cols)
	g.wantShape("Normalize", gain, 1, src.Cols)
	g.wantShape("Normalize", shift, 1, src.Cols)
	if src.Empty() {
		return
	}
	g.begin()
	defer g.end()
	g.kernel(normalizeKernel).matrix(dst).matrix(src).matrix(stats).row(gain).row(shift).size(src).
		each(src.Rows * src.Cols)
}

// NormalizeGradient propagates delta back through Normalize and Moments.
//
// Source: Ioffe and Szegedy, "Batch Normalization", 2015, section 3.
func (g *gpu) NormalizeGradient(delta, src, stats, gain, dGain, dShift device.Matrix) {
	g.wantLike("NormalizeGradient", src, delta)
	g.wantShape("NormalizeGradient", stats, 2, src.Cols)
	for _, m := range [3]device.Matrix{gain, dGain, dShift} {
		g.wantShape("NormalizeGradient", m, 1, src.Cols)
	}
	if src.Cols == 0 {
		return
	}
	g.begin()
	defer g.end()
	if src.Rows == 0 {
		g.scale(dGain, 0)
		g.scale(dShift, 0)
		return
	}
	n := segments(src.Rows)
	totals, products := g.room(partsRoom, 8*n*src.Cols), g.room(otherPartsRoom, 8*n*src.Cols)
	means := g.room(meansRoom, 8*src.Cols)
	g.kernel(columnSlopesKernel).pointer(totals).pointer(products).matrix(delta).matrix(src).matrix(
		stats).along(src)
	g.kernel(finishSlopesKernel).row(dGain).row(dShift).pointer(means).pointer(
		totals).pointer(products).
		int(n).int(src.Cols).double(float64(src.Rows)).each(src.Cols)
	g.kernel(normalizeGradientKernel).matrix(delta).matrix(src).matrix(stats).row(gain).pointer(
		means).size(src).
		each(src.Rows * src.Cols)
}
