package models

import "github.com/seed7ba64551/privgen/device"

// convUnit is a convolution: y = f(patches·W + b), with the same W at every place of the window.
//
// For one record with patches A (places×patch) and deltas D (places×maps), the gradient with
// respect to W is AᵀD. The gradient with respect to b is the sum of the rows of D.
type convUnit struct {
	window   device.Window
	maps     int
	f, slope device.Func
}

// convolve adds a convolution to the images x.
func (g *sketch) convolve(x *node, f device.Func, w device.Window, maps int) *node {
	return g.add(&convUnit{window: w, maps: maps, f: f, slope: f}, x)
}

func (u *convUnit) out() int { return u.window.Places() * u.maps }

func (u *convUnit) blocks(gain float64) []block {
	return []block{{name: "weight", rows: u.window.Patch(), cols: u.maps,
		std: root(gain, u.window.Patch())}, {name: "bias", rows: 1, cols: u.maps}}
}

func (u *convUnit) places(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.window.Places(), u.maps)
}

func (u *convUnit) forward(t *pass, n *node) {
	y := u.places(t.value(n))
	t.convolve(u.window, false, t.operand(n, 0), t.blocks[n.first], y)
	t.be.BiasApply(u.f, y, t.blocks[n.first+1])
}

func (u *convUnit) backward(t *pass, n *node) {
	t.be.Gradient(u.slope, t.delta(n), t.value(n))
	t.pull(n, 0, func(dx device.Matrix) { u.push(t, n, t.delta(n), dx) })
}

// push sets dx to the derivative with respect to the operand, given the derivative before f.
func (u *convUnit) push(t *pass, n *node, delta, dx device.Matrix) {
	t.spread(u.window, true, u.places(delta), t.blocks[n.first], dx)
}

func (u *convUnit) back(t *pass, n *node, y, delta, dx device.Matrix, _ bool) {
	t.be.Gradient(u.slope, delta, y)
	if dx.Rows > 0 {
		u.push(t, n, delta, dx)
	}
}

func (u *convUnit) tangent(t *pass, n *node, y, x, v device.Matrix) {
	t.lower(u.window, false, x, t.blocks[n.first], u.places(v))
	t.be.Gradient(u.f, v, y)
}

func (u *convUnit) inputGradient(t *pass, n *node, delta, dx device.Matrix) {
	t.raise(u.window, true, u.places(delta), t.blocks[n.first], dx)
}

func (u *convUnit) uses(t *pass, n *node, list []use) []use {
	return append(list, use{weight: n.first, bias: n.first + 1, rows: u.window.Places() * t.parts,
		a: t.operand(n, 0), d: u.places(t.delta(n)), lower: lowerA, window: u.window})
}

// convolve sets dst to the patches of images times w or, if trans, its transpose.
func (t *pass) convolve(win device.Window, trans bool, images, w, dst device.Matrix) {
	if c, ok := t.be.(device.Convolver); !ok || !c.Convolve(win, trans, images, w, dst) {
		t.lower(win, trans, images, w, dst)
	}
}

// lower is convolve with patches in memory.
func (t *pass) lower(win device.Window, trans bool, images, w, dst device.Matrix) {
	places := win.Places()
	for lo, hi := 0, 0; lo < images.Rows; lo = hi {
		hi = chunkEnd(win, lo, images.Rows)
		patches := t.patches(win, hi-lo)
		t.be.Im2Col(win, patches, images.RowRange(lo, hi))
		t.be.Gemm(false, trans, 1, patches, w, 0, dst.RowRange(lo*places, hi*places))
	}
}

// spread sets images to the sums of patches x·w or, if trans, x·wᵀ: the transpose of convolve.
func (t *pass) spread(win device.Window, trans bool, x, w, images device.Matrix) {
	if c, ok := t.be.(device.Convolver); !ok || !c.Spread(win, trans, x, w, images) {
		t.raise(win, trans, x, w, images)
	}
}

// raise is spread with patches in memory.
func (t *pass) raise(win device.Window, trans bool, x, w, images device.Matrix) {
	places := win.Places()
	for lo, hi := 0, 0; lo < images.Rows; lo = hi {
		hi = chunkEnd(win, lo, images.Rows)
		patches := t.patches(win, hi-lo)
		t.be.Gemm(false, trans, 1, x.RowRange(lo*places, hi*places), w, 0, patches)
		t.be.Col2Im(win, images.RowRange(lo, hi), patches)
	}
}

// addConvolved calls the method of the same name if the backend is a [device.Convolver]. Otherwise
// it returns false.
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
	window device.Window // over the output image
	maps   int           // channels of x
	f      device.Func
}

// transposed adds a transposed convolution of images of the given number of channels.
func (g *sketch) transposed(x *node, f device.Func, w device.Window, channels int) *node {
	return g.add(&transposedUnit{window: w, maps: channels, f: f}, x)
}

func (u *transposedUnit) out() int { return u.window.Len() }

// blocks uses the number of inputs that contribute to one output as the fan-in: Size²/Stride²
// pixels of all maps.
func (u *transposedUnit) blocks(gain float64) []block {
	w := u.window
	return []block{{name: "weight", rows: u.maps, cols: w.Patch(),
		std: root(gain, u.maps*w.Size*w.Size/(w.Stride*w.Stride))},
		{name: "bias", rows: 1, cols: w.Channels}}
}

func (u *transposedUnit) places(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.window.Places(), u.maps)
}

func (u *transposedUnit) pixels(m device.Matrix) device.Matrix {
	return m.Reshape(m.Rows*u.window.Height*u.window.Width, u.window.Channels)
}

func (u *transposedUnit) forward(t *pass, n *node) {
	y := t.value(n)
	t.spread(u.window, false, u.places(t.operand(n, 0)), t.blocks[n.first], y)
	t.be.BiasApply(u.f, u.pixels(y), t.blocks[n.first+1])
}

func (u *transposedUnit) backward(t *pass, n *node) {
	t.be.Gradient(u.f, t.delta(n), t.value(n))
	t.pull(n, 0, func(dx device.Matrix) {
		t.convolve(u.window, true, t.delta(n), t.blocks[n.first], u.places(dx))
	})
}

// uses treats the bias apart: it has a row for each pixel, and the matrix one for each place.
func (u *transposedUnit) uses(t *pass, n *node, list []use) []use {
	return append(list,
		use{weight: n.first, bias: -1, rows: u.window.Places() * t.parts,
			a: u.places(t.operand(n, 0)), d: t.delta(n), lower: lowerD, window: u.window},
		use{weight: -1, bias: n.first + 1, rows: u.window.Height * u.window.Width * t.parts,
			d: u.pixels(t.delta(n))})
}

// upSampleUnit doubles the height and width of an image.
type upSampleUnit struct{ image device.Image }

func (u *upSampleUnit) out() int { return u.image.Doubled().Len() }

func (u *upSampleUnit) forward(t *pass, n *node) {
	t.be.UpSample(u.image, t.value(n), t.operand(n, 0))
}

func (u *upSampleUnit) backward(t *pass, n *node) {
	t.pull(n, 0, func(dx device.Matrix) { t.be.UpSampleGradient(u.image, dx, t.delta(n)) })
}
