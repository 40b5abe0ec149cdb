package models

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

func root(gain float64, fanIn int) float64 { return math.Sqrt(gain / float64(max(fanIn, 1))) }

// chunkNumbers is the number of elements of patches that are computed at a time. They should still
// be in the second-level cache when the product reads them. Patches are several times as large as
// the layer's input and output together, so computing them for each use costs less than storing
// them.
const chunkNumbers = 1 << 17

// convUnit is a convolution: y = f(patches·W + b), with the same W at every place of the window.
//
// For one record with patches A (places×patch) and deltas D (places×maps), the gradient with
// respect to W is AᵀD. The gradient with respect to b is the sum of the rows of D.
type convUnit struct {
	be           device.Backend
	window       device.Window
	maps         int
	f            device.Func
	weight, bias device.Matrix
}

func (u *convUnit) in() int  { return u.window.Len() }
func (u *convUnit) out() int { return u.window.Places() * u.maps }

func (u *convUnit) shapes(name string) []device.Shape {
	return []device.Shape{{Name: name + ".weight", Rows: u.window.Patch(), Cols: u.maps},
		{Name: name + ".bias", Rows: 1, Cols: u.maps}}
}

func (u *convUnit) bind(blocks []device.Matrix) { u.weight, u.bias = blocks[0], blocks[1] }

func (u *convUnit) initialise(rng *rand.Rand, gain float64) {
	uploadNormals(u.be, u.weight, rng, root(gain, u.window.Patch()))
}

func (u *convUnit) places(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.window.Places(), u.maps)
}

func (u *convUnit) forward(w *walk, _ int, x, y device.Matrix) {
	if !convolve(u.be, u.window, false, x, u.weight, u.places(y)) {
		u.lowerForward(w, x, y)
	}
	u.be.BiasApply(u.f, u.places(y), u.bias)
}

func (u *convUnit) lowerForward(w *walk, x, y device.Matrix) {
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		u.be.Im2Col(u.window, patches, x.RowRange(lo, hi))
		u.be.Gemm(false, false, 1, patches, u.weight, 0, u.places(y.RowRange(lo, hi)))
	}
}

func (u *convUnit) backward(w *walk, _ int, x, y, delta, dx device.Matrix) {
	u.be.Gradient(u.f, delta, y)
	if dx.Rows == 0 || spread(u.be, u.window, true, u.places(delta), u.weight, dx) {
		return
	}
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		u.be.Gemm(false, true, 1, u.places(delta.RowRange(lo, hi)), u.weight, 0, patches)
		u.be.Col2Im(u.window, dx.RowRange(lo, hi), patches)
	}
}

// addNorms treats the bias as the weight of an additional 1 in every patch.
func (u *convUnit) addNorms(w *walk, x, delta device.Matrix, dst []float64) {
	w.reject(x, delta, dst)
	product, size := w.np[:x.Rows], u.window.Patch()
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		longer := w.scratch(rowsFor(u.window), (hi-lo)*u.window.Places(), size+1)
		u.be.Im2Col(u.window, longer.Slice(0, longer.Rows, 0, size), x.RowRange(lo, hi))
		u.be.Fill(longer.Slice(0, longer.Rows, size, size+1), 1)
		u.be.BlockProductNorms(product[lo:hi], u.window.Places(), longer,
			u.places(delta.RowRange(lo, hi)))
	}
	addTo(dst, product)
}

func (u *convUnit) addSum(w *walk, _ int, x, delta device.Matrix, weights []float32,
	blocks []device.Matrix) {
	scaled := w.scaled(delta, weights)
	u.be.ColSums(nil, u.places(scaled), 1, blocks[1])
	if addConvolved(u.be, u.window, false, x, u.places(scaled), blocks[0]) {
		return
	}
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		u.be.Im2Col(u.window, patches, x.RowRange(lo, hi))
		u.be.Gemm(true, false, 1, patches, u.places(scaled.RowRange(lo, hi)), 1, blocks[0])
	}
}

// convolve, spread and addConvolved call the methods of the same name if the backend is a
// [device.Convolver]. Otherwise they return false.
func convolve(be device.Backend, w device.Window, transW bool, src, weights,
	dst device.Matrix) bool {
	c, ok := be.(device.Convolver)
	return ok && c.Convolve(w, transW, src, weights, dst)
}

func spread(be device.Backend, w device.Window, transW bool, src, weights,
	dst device.Matrix) bool {
	c, ok := be.(device.Convolver)
	return ok && c.Spread(w, transW, src, weights, dst)
}

func addConvolved(be device.Backend, w device.Window, transposed bool, images, m,
	dst device.Matrix) bool {
	c, ok := be.(device.Convolver)
	return ok && c.AddConvolved(w, transposed, images, m, dst)
}

// transposedUnit is a transposed convolution: every pixel of x adds a weighted patch to a larger
// image y, over which the window slides. It is the transpose of a convUnit from y to x.
//
// For one record with pixels A (places×maps) and patches D (places×patch) of y's delta, the
// gradient with respect to W is AᵀD.
type transposedUnit struct {
	be           device.Backend
	window       device.Window // over the output image
	maps         int           // channels of x
	f            device.Func
	weight, bias device.Matrix
}

func (u *transposedUnit) in() int  { return u.window.Places() * u.maps }
func (u *transposedUnit) out() int { return u.window.Len() }

func (u *transposedUnit) shapes(name string) []device.Shape {
	return []device.Shape{{Name: name + ".weight", Rows: u.maps, Cols: u.window.Patch()},
		{Name: name + ".bias", Rows: 1, Cols: u.window.Channels}}
}

func (u *transposedUnit) bind(blocks []device.Matrix) { u.weight, u.bias = blocks[0], blocks[1] }

// initialise uses the number of inputs that contribute to one output as the fan-in: Size²/Stride²
// pixels of all maps.
func (u *transposedUnit) initialise(rng *rand.Rand, gain float64) {
	w := u.window
	uploadNormals(u.be, u.weight, rng, root(gain, u.maps*w.Size*w.Size/(w.Stride*w.Stride)))
}

func (u *transposedUnit) places(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.window.Places(), u.maps)
}

func (u *transposedUnit) pixels(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.window.Height*u.window.Width, u.window.Channels)
}

func (u *transposedUnit) forward(w *walk, _ int, x, y device.Matrix) {
	if !spread(u.be, u.window, false, u.places(x), u.weight, y) {
		u.lowerForward(w, x, y)
	}
	u.be.BiasApply(u.f, u.pixels(y), u.bias)
}

func (u *transposedUnit) lowerForward(w *walk, x, y device.Matrix) {
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		u.be.Gemm(false, false, 1, u.places(x.RowRange(lo, hi)), u.weight, 0, patches)
		u.be.Col2Im(u.window, y.RowRange(lo, hi), patches)
	}
}

func (u *transposedUnit) backward(w *walk, _ int, x, y, delta, dx device.Matrix) {
	u.be.Gradient(u.f, delta, y)
	if dx.Rows == 0 || convolve(u.be, u.window, true, delta, u.weight, u.places(dx)) {
		return
	}
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		u.be.Im2Col(u.window, patches, delta.RowRange(lo, hi))
		u.be.Gemm(false, true, 1, patches, u.weight, 0, u.places(dx.RowRange(lo, hi)))
	}
}

func (u *transposedUnit) addNorms(w *walk, x, delta device.Matrix, dst []float64) {
	w.reject(x, delta, dst)
	product := w.np[:x.Rows]
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		u.be.Im2Col(u.window, patches, delta.RowRange(lo, hi))
		u.be.BlockProductNorms(product[lo:hi], u.window.Places(), u.places(x.RowRange(lo, hi)), patches)
	}
	addTo(dst, product)
	u.addBiasNorms(w, delta, dst)
}

// addBiasNorms treats the bias as the weight of an input of 1 at every pixel.
func (u *transposedUnit) addBiasNorms(w *walk, delta device.Matrix, dst []float64) {
	product, pixels := w.np[:delta.Rows], u.window.Height*u.window.Width
	for lo, hi := 0, 0; lo < delta.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, delta.Rows)
		ones := w.scratch(chunkRows(u.window)*pixels, (hi-lo)*pixels, 1)
		u.be.Fill(ones, 1)
		u.be.BlockProductNorms(product[lo:hi], pixels, ones, u.pixels(delta.RowRange(lo, hi)))
	}
	addTo(dst, product)
}

func (u *transposedUnit) addSum(w *walk, _ int, x, delta device.Matrix, weights []float32,
	blocks []device.Matrix) {
	scaled := w.scaled(delta, weights)
	u.be.ColSums(nil, u.pixels(scaled), 1, blocks[1])
	if addConvolved(u.be, u.window, true, scaled, u.places(x), blocks[0]) {
		return
	}
	for lo, hi := 0, 0; lo < x.Rows; lo = hi {
		hi = chunkEnd(u.window, lo, x.Rows)
		patches := w.patches(u.window, hi-lo)
		u.be.Im2Col(u.window, patches, scaled.RowRange(lo, hi))
		u.be.Gemm(true, false, 1, u.places(x.RowRange(lo, hi)), patches, 1, blocks[0])
	}
}

func addTo(dst, x []float64) {
	for i, v := range x {
		dst[i] += v
	}
}

// upSampleUnit doubles the height and width of an image.
type upSampleUnit struct {
	parameterless
	be    device.Backend
	image device.Image
}

func (u *upSampleUnit) in() int  { return u.image.Len() }
func (u *upSampleUnit) out() int { return u.image.Doubled().Len() }

func (u *upSampleUnit) forward(_ *walk, _ int, x, y device.Matrix) {
	u.be.UpSample(u.image, y, x)
}

func (u *upSampleUnit) backward(_ *walk, _ int, _, _, delta, dx device.Matrix) {
	if dx.Rows > 0 {
		u.be.UpSampleGradient(u.image, dx, delta)
	}
}
