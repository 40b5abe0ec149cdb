package models

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// A criticUnit is a unit through which a gradient penalty can be propagated.
type criticUnit interface {
	unit
	// tangent sets t to the unit's Jacobian at x̂ times v.
	tangent(p *pairs, l int, v, t device.Matrix)
}

// A firstUnit can be the first unit of a critic.
type firstUnit interface {
	// inputGradient sets dx to the derivative with respect to the input, given delta, the derivative
	// with respect to the sums before f.
	inputGradient(w *walk, delta, dx device.Matrix)
}

// A weightedUnit has weights and a bias.
type weightedUnit interface {
	// blockNorms sets weight and bias to the squared norms of the records' gradients with respect to
	// the weights and the bias, rounded up.
	blockNorms(p *pairs, x, delta device.Matrix, weight, bias []float64)
	// weightSum and biasSum add gradients, with a weight for each part.
	weightSum(p *pairs, x, delta device.Matrix, weights []float32, dst device.Matrix)
	biasSum(p *pairs, delta device.Matrix, weights []float32, dst device.Matrix)
}

func (u *denseUnit) inputGradient(_ *walk, delta, dx device.Matrix) {
	u.be.Gemm(false, true, 1, delta, u.weight, 0, dx)
}

func (u *denseUnit) tangent(p *pairs, l int, v, t device.Matrix) {
	u.be.Gemm(false, false, 1, v, u.weight, 0, t)
	u.be.Gradient(u.f, t, p.between(p.w.outs[l]))
}

// gram is scratch for the inner products of the parts of every record.
type gram struct {
	a, d   []float64 // squared norms of all rows of x and delta
	ad, dd []float64 // inner products of two parts
}

// cancelled is the fraction of Σ‖a‖‖δ‖ that is added to the norm of Σ a⊗δ. It exceeds the relative
// float32 error of the parts' products. Without it, the weights of parts that nearly cancel would
// be unbounded.
const cancelled = 0x1p-12

// blockNorms computes ‖Σⱼ aⱼ⊗δⱼ‖² as Σⱼₖ (aⱼ·aₖ)(δⱼ·δₖ) from the Gram matrices of the parts, in
// float64.
func (u *denseUnit) blockNorms(p *pairs, x, delta device.Matrix, weight, bias []float64) {
	g := &p.gram
	rows := p.rows * p.parts
	g.a, g.d, g.ad, g.dd = grow(g.a, rows), grow(g.d, rows), grow(g.ad, p.rows), grow(g.dd, p.rows)
	p.be.RowSquaredNorms(g.a, x)
	p.be.RowSquaredNorms(g.d, delta)
	for i := range p.rows {
		weight[i], bias[i] = 0, 0
		for k := i * p.parts; k < (i+1)*p.parts; k++ {
			g.a[k], g.d[k] = bounded(g.a[k]), bounded(g.d[k])
			weight[i] += g.a[k] * g.d[k]
			if k%p.parts < p.biased {
				bias[i] += g.d[k]
			}
		}
	}
	for j := range p.parts {
		for k := j + 1; k < p.parts; k++ {
			p.be.RowDots(g.ad, part(x, j, p.parts), part(x, k, p.parts))
			p.be.RowDots(g.dd, part(delta, j, p.parts), part(delta, k, p.parts))
			for i := range p.rows {
				weight[i] += 2 * g.ad[i] * g.dd[i]
				if k < p.biased {
					bias[i] += 2 * g.dd[i]
				}
			}
		}
	}
	p.roundUp(u.width+u.wide, weight, bias)
}

// roundUp adds bounds for two rounding errors: the error of float64 inner products with the given
// number of terms, and the error of the summed float32 rows.
func (p *pairs) roundUp(terms int, weight, bias []float64) {
	if p.parts == 1 {
		return // nothing cancels
	}
	slack := float64(terms+32) * 0x1p-51
	for i := range weight {
		sw := 0.0
		for k := i * p.parts; k < (i+1)*p.parts; k++ {
			sw += math.Sqrt(p.gram.a[k] * p.gram.d[k])
		}
		weight[i] = above(weight[i], slack, sw)
		bias[i] = above(bias[i], slack, p.size(p.gram.d, i, p.biased))
	}
}

// size returns the sum of the norms of the first parts of record i.
func (p *pairs) size(squares []float64, i, share int) float64 {
	sum := 0.0
	for _, s := range squares[i*p.parts : i*p.parts+share] {
		sum += math.Sqrt(s)
	}
	return sum
}

// above returns an upper bound of a squared norm whose float64 sums may be off by slack·size².
func above(square, slack, size float64) float64 {
	norm := math.Sqrt(max(square, 0)+slack*size*size) + cancelled*size
	return norm * norm
}

func (u *denseUnit) weightSum(p *pairs, x, delta device.Matrix, weights []float32,
	dst device.Matrix) {
	if u.width <= u.wide {
		u.be.Gemm(true, false, 1, p.w.scaled(x, weights), delta, 1, dst)
		return
	}
	u.be.Gemm(true, false, 1, x, p.w.scaled(delta, weights), 1, dst)
}

func (u *denseUnit) biasSum(_ *pairs, delta device.Matrix, weights []float32, dst device.Matrix) {
	u.be.ColSums(weights, delta, 1, dst)
}

func (u *convUnit) inputGradient(w *walk, delta, dx device.Matrix) {
	for lo, hi := 0, 0; lo < delta.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, delta.Rows)
		patches := w.patches(u.window, hi-lo)
		u.be.Gemm(false, true, 1, u.places(delta.RowRange(lo, hi)), u.weight, 0, patches)
		u.be.Col2Im(u.window, dx.RowRange(lo, hi), patches)
	}
}

func (u *convUnit) tangent(p *pairs, l int, v, t device.Matrix) {
	for lo, hi := 0, 0; lo < v.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, v.Rows)
		patches := p.w.patches(u.window, hi-lo)
		u.be.Im2Col(u.window, patches, v.RowRange(lo, hi))
		u.be.Gemm(false, false, 1, patches, u.weight, 0, u.places(t.RowRange(lo, hi)))
	}
	u.be.Gradient(u.f, t, p.between(p.w.outs[l]))
}

// blockNorms treats the places of all parts of a record as one longer list: the gradient is AᵀD
// over all of them.
func (u *convUnit) blockNorms(p *pairs, x, delta device.Matrix, weight, bias []float64) {
	w, places := p.w, u.window.Places()
	chunk := max(chunkRows(u.window)/p.parts, 1)
	for lo, hi := 0, 0; lo < p.rows; lo = hi {
		hi = min(lo+chunk, p.rows)
		images := x.RowRange(lo*p.parts, hi*p.parts)
		patches := w.patches(u.window, images.Rows)
		u.be.Im2Col(u.window, patches, images)
		u.be.BlockProductNorms(weight[lo:hi], p.parts*places, patches,
			u.places(delta.RowRange(lo*p.parts, hi*p.parts)))
		ones := p.ones(rowsFor(u.window), hi-lo, places, p.biased)
		u.be.BlockProductNorms(bias[lo:hi], p.parts*places,
			ones, u.places(delta.RowRange(lo*p.parts, hi*p.parts)))
	}
	p.reject(x, delta, weight, bias)
}

// ones returns the column that replaces the patches in gradients that are sums over places. It is 1
// at the places of a record's first share parts, and 0 at the places of the other parts.
func (p *pairs) ones(most, rows, places, share int) device.Matrix {
	m := p.w.scratch(most, rows*p.parts*places, 1)
	p.be.Fill(m, 0)
	byPart := m.Reshape(rows, p.parts*places)
	p.be.Fill(byPart.Slice(0, rows, 0, share*places), 1)
	return m
}

// reject sets norms to NaN where a factor is too large.
func (p *pairs) reject(x, delta device.Matrix, weight, bias []float64) {
	g := &p.gram
	rows := p.rows * p.parts
	g.a, g.d = grow(g.a, rows), grow(g.d, rows)
	p.be.RowSquaredNorms(g.a, x)
	p.be.RowSquaredNorms(g.d, delta)
	for i := range p.rows {
		for k := i * p.parts; k < (i+1)*p.parts; k++ {
			weight[i] += 0 * (bounded(g.a[k]) + bounded(g.d[k]))
			bias[i] += 0 * bounded(g.d[k])
		}
	}
}

func (u *convUnit) weightSum(p *pairs, x, delta device.Matrix, weights []float32,
	dst device.Matrix) {
	w := p.w
	scaled := w.scaled(delta, weights)
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		u.be.Im2Col(u.window, patches, x.RowRange(lo, hi))
		u.be.Gemm(true, false, 1, patches, u.places(scaled.RowRange(lo, hi)), 1, dst)
	}
}

// biasSum adds up records first and then places, since a weight applies to all places of a part.
func (u *convUnit) biasSum(p *pairs, delta device.Matrix, weights []float32, dst device.Matrix) {
	sum := p.w.scratch(rowsFor(u.window), 1, delta.Cols)
	u.be.ColSums(weights, delta, 0, sum)
	u.be.ColSums(nil, sum.Reshape(u.window.Places(), u.maps), 1, dst)
}
