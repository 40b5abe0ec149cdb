package models

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// layerNormEps keeps the square root away from zero, so equal numbers of a record become zeros.
const layerNormEps = 1e-5

// layerNorm is y = (x − mean)·r with r = 1/√(variance + ε). Mean and variance are over the numbers
// of one record, so its output does not depend on other records. A layerNorm has no parameters; a
// gainUnit follows it.
//
// The Jacobian J = r(I − 11ᵀ/n − yyᵀ/n) is exact for ε > 0, and symmetric: tangents are propagated
// by the same product as deltas.
//
// Source: Ba, Kiros and Hinton, "Layer Normalization", 2016.
type layerNorm struct {
	parameterless
	be    device.Backend
	width int
	ones  device.Matrix
}

func newLayerNorm(be device.Backend, width int) *layerNorm {
	u := &layerNorm{be: be, width: width, ones: be.New(1, width)}
	be.Fill(u.ones, 1)
	return u
}

func (u *layerNorm) in() int  { return u.width }
func (u *layerNorm) out() int { return u.width }

func (u *layerNorm) forward(w *walk, l int, x, y device.Matrix) {
	u.be.Apply(device.Identity, y, x)
	u.centre(w, y)
	squares, roots := w.np[:x.Rows], w.roots[l][:x.Rows]
	u.be.RowSquaredNorms(squares, y)
	for i, s := range squares {
		roots[i] = float32(1 / math.Sqrt(s/float64(u.width)+layerNormEps))
	}
	u.be.ScaleRows(y, roots)
}

// centre subtracts from each row its mean.
func (u *layerNorm) centre(w *walk, m device.Matrix) {
	means := w.means.RowRange(0, m.Rows)
	u.be.Gemm(false, true, 1/float32(u.width), m, u.ones, 0, means)
	u.be.Gemm(false, false, -1, means, u.ones, 1, m)
}

func (u *layerNorm) backward(w *walk, l int, _, y, delta, dx device.Matrix) {
	if dx.Rows > 0 {
		u.jacobian(w, w.roots[l][:w.rows], y, delta, dx, nil)
	}
}

// jacobian sets dx to Jv − r·y·more/n.
func (u *layerNorm) jacobian(w *walk, roots []float32, y, v, dx device.Matrix, more []float64) {
	along := w.np[:v.Rows]
	u.be.RowDots(along, y, v)
	w.host = grow(w.host, v.Rows)
	for i, a := range along {
		if more != nil {
			a += more[i]
		}
		w.host[i] = float32(a / float64(u.width))
	}
	u.be.Apply(device.Identity, dx, y)
	u.be.ScaleRows(dx, w.host)
	u.be.Sub(dx, v, dx)
	u.centre(w, dx)
	u.be.ScaleRows(dx, roots)
}

func (u *layerNorm) tangent(p *pairs, l int, v, t device.Matrix) {
	u.jacobian(p.w, p.roots(l), p.between(p.w.outs[l]), v, t, nil)
}

// bend uses the derivative of δᵀJv with respect to x:
//
//	−(β·Jδ + α·Jv)r/n − y·rq/n,  α = y·δ, β = y·v, q = δᵀJv,
//
// The first two terms are J times a vector, which is added to v; jacobian adds the third.
func (u *layerNorm) bend(p *pairs, l int, v, dx device.Matrix) {
	w, g := p.w, &p.gram
	y, delta := p.between(w.outs[l]), p.carried(w.deltas[l])
	tangent, after := p.carried(w.input(l)), p.carried(w.outs[l])
	alpha, beta := w.na[:p.rows], w.nd[:p.rows]
	g.ad = grow(g.ad, p.rows)
	u.be.RowDots(alpha, y, delta)
	u.be.RowDots(beta, y, tangent)
	u.be.RowDots(g.ad, delta, after)
	roots := p.roots(l)
	p.addScaled(v, delta, roots, beta, -1/float64(u.width))
	p.addScaled(v, tangent, roots, alpha, -1/float64(u.width))
	u.jacobian(w, roots, y, v, dx, g.ad)
}

// gainUnit is y = f(gain·x + shift). Each map has a gain and a shift, the same at all places.
//
// For one record, the gradient with respect to the gain is the sum of x∘δ over places. The gradient
// with respect to the shift is the sum of δ.
type gainUnit struct {
	be           device.Backend
	places, maps int
	f            device.Func
	gain, shift  device.Matrix
	plain, none  device.Matrix // moments 0 and 1, and no shift, for Normalize
}

func newGainUnit(be device.Backend, places, maps int, f device.Func) *gainUnit {
	u := &gainUnit{be: be, places: places, maps: maps, f: f, plain: be.New(2, maps),
		none: be.New(1, maps)}
	be.Fill(u.plain.RowRange(1, 2), 1)
	return u
}

func (u *gainUnit) in() int  { return u.places * u.maps }
func (u *gainUnit) out() int { return u.places * u.maps }

// shapes names the shift "bias". Code that groups parameters then treats the shift as a bias.
func (u *gainUnit) shapes(name string) []device.Shape {
	return []device.Shape{{Name: name + ".gain", Rows: 1, Cols: u.maps},
		{Name: name + ".bias", Rows: 1, Cols: u.maps}}
}

func (u *gainUnit) bind(blocks []device.Matrix) { u.gain, u.shift = blocks[0], blocks[1] }

func (u *gainUnit) initialise(*rand.Rand, float64) {
	u.be.Fill(u.gain, 1)
	u.be.Fill(u.shift, 0)
}

func (u *gainUnit) columns(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.places, u.maps)
}

func (u *gainUnit) forward(_ *walk, _ int, x, y device.Matrix) {
	u.be.Normalize(u.columns(y), u.columns(x), u.plain, u.gain, u.shift)
	if u.f != device.Identity {
		u.be.Apply(u.f, y, y)
	}
}

// scale sets dx to gain·m.
func (u *gainUnit) scale(dx, m device.Matrix) {
	u.be.Normalize(u.columns(dx), u.columns(m), u.plain, u.gain, u.none)
}

func (u *gainUnit) backward(_ *walk, _ int, _, y, delta, dx device.Matrix) {
	u.be.Gradient(u.f, delta, y)
	if dx.Rows > 0 {
		u.scale(dx, delta)
	}
}

func (u *gainUnit) tangent(p *pairs, l int, v, t device.Matrix) {
	u.scale(t, v)
	u.be.Gradient(u.f, t, p.between(p.w.outs[l]))
}

// addNorms sets all norms to NaN, so that no gradient is used. Only critics have layer norm, and
// they call blockNorms instead.
func (u *gainUnit) addNorms(_ *walk, _, _ device.Matrix, dst []float64) {
	for i := range dst {
		dst[i] = math.NaN()
	}
}

func (u *gainUnit) addSum(*walk, int, device.Matrix, device.Matrix, []float32, []device.Matrix) {}

// blockNorms includes bounds for the error of terms that cancel. It treats places like convUnit and
// parts like denseUnit.
func (u *gainUnit) blockNorms(p *pairs, x, delta device.Matrix, weight, bias []float64) {
	terms := p.w.spare(x.Rows, x.Cols)
	u.be.Mul(terms, x, delta)
	most, block := p.w.capacity*u.places, p.parts*u.places
	u.be.BlockProductNorms(weight, block, p.ones(most, p.rows, u.places, p.parts), u.columns(terms))
	u.be.BlockProductNorms(bias, block, p.ones(most, p.rows, u.places, p.biased), u.columns(delta))
	p.reject(x, delta, weight, bias)
	if p.parts == 1 {
		return
	}
	p.be.RowSquaredNorms(p.gram.a, terms)
	for i := range weight {
		weight[i] = above(weight[i], 0, p.size(p.gram.a, i, p.parts))
		bias[i] = above(bias[i], 0, p.size(p.gram.d, i, p.biased))
	}
}

func (u *gainUnit) weightSum(p *pairs, x, delta device.Matrix, weights []float32,
	dst device.Matrix) {
	terms := p.w.scaled(delta, weights)
	u.be.Mul(terms, x, terms)
	u.sum(p, terms, nil, dst)
}

func (u *gainUnit) biasSum(p *pairs, delta device.Matrix, weights []float32, dst device.Matrix) {
	u.sum(p, delta, weights, dst)
}

// sum adds up records first and then places, since a weight applies to all places of a part.
func (u *gainUnit) sum(p *pairs, m device.Matrix, weights []float32, dst device.Matrix) {
	total := p.w.scratch(1, 1, m.Cols)
	u.be.ColSums(weights, m, 0, total)
	u.be.ColSums(nil, u.columns(total), 1, dst)
}
