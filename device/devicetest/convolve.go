package devicetest

import (
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// testConvolver checks a backend that is a device.Convolver. It skips other backends.
func testConvolver(t *testing.T, b device.Backend) {
	c, ok := b.(device.Convolver)
	if !ok {
		t.Skip("the backend is not a device.Convolver")
	}
	x := newBench(t, b, 21)
	for range 100 {
		w := device.Window{Image: x.image(), Size: 1 + x.r.IntN(5), Stride: 1 + x.r.IntN(3),
			Pad: x.r.IntN(4)}
		x.convolve(c, w, 1+x.r.IntN(40), x.size(9), x.r.IntN(2) == 0)
	}
	for _, w := range []device.Window{
		{Image: device.Image{Height: 28, Width: 28, Channels: 1}, Size: 5, Stride: 1, Pad: 2},
		{Image: device.Image{Height: 9, Width: 10, Channels: 8}, Size: 5, Stride: 1, Pad: 2},
		{Image: device.Image{Height: 11, Width: 8, Channels: 16}, Size: 4, Stride: 2, Pad: 1},
		{Image: device.Image{Height: 7, Width: 9, Channels: 5}, Size: 3, Stride: 3, Pad: 0},
	} {
		x.convolve(c, w, 8, 2, false)
		x.convolve(c, w, 21, 1, true)
	}
}

// convolve checks the three operations against their definitions. If a method returns false,
// convolve checks that the destination has not changed.
func (x *bench) convolve(c device.Convolver, w device.Window, maps, images int, trans bool) {
	x.t.Helper()
	places, patch := w.Places(), w.Patch()
	src, weights := x.matrix(images, w.Len()), x.oriented(patch, maps, trans)
	what := fmt.Sprintf("%+v, %d maps, %d images, transposed %v: ", w, maps, images, trans)
	patches := make([]float64, images*places*patch) // with zeros outside the image
	for k := range patches {
		if at, inside := pixel(w, k/patch%places, k%patch); inside {
			patches[k] = src.at(k/patch/places, at)
		}
	}

	dst := x.matrix(images*places, maps)
	if c.Convolve(w, trans, src.m, weights.m, dst.m) {
		dst.want(x, what+"Convolve", func(i, j int) (float64, float64) {
			return dot(patch, 1, 0, func(l int) (float64, float64) {
				return patches[i*patch+l], element(weights, trans, l, j)
			})
		})
	} else {
		dst.unchanged(x, what+"Convolve")
	}

	m := x.matrix(images*places, maps)
	sums := x.oriented(patch, maps, trans)
	terms := images * places
	if c.AddConvolved(w, trans, src.m, m.m, sums.m) {
		sums.want(x, what+"AddConvolved", func(i, j int) (float64, float64) {
			l, k := i, j
			if trans {
				l, k = j, i
			}
			return dot(terms, 1, sums.at(i, j), func(n int) (float64, float64) {
				return patches[n*patch+l], m.at(n, k)
			})
		})
	} else {
		sums.unchanged(x, what+"AddConvolved")
	}

	back := x.matrix(images, w.Len())
	if !c.Spread(w, !trans, m.m, weights.m, back.m) {
		back.unchanged(x, what+"Spread")
	} else {
		x.wantSpread(what, w, back, m, weights, trans)
	}
	for _, v := range []*view{src, weights, m} {
		v.unchanged(x, what)
	}
}

// wantSpread checks, for each pixel, the sum of its values in the patches m·Wᵀ.
func (x *bench) wantSpread(what string, w device.Window, back, m, weights *view, trans bool) {
	x.t.Helper()
	values, sizes := make([]float64, len(back.host)), make([]float64, len(back.host))
	for i := range m.rows {
		for l := range w.Patch() {
			at, inside := pixel(w, i%w.Places(), l)
			if !inside {
				continue
			}
			to := i/w.Places()*w.Len() + at
			for j := range m.cols {
				v := m.at(i, j) * element(weights, trans, l, j)
				values[to] += v
				sizes[to] += abs(v)
			}
		}
	}
	terms := w.Size * w.Size * m.cols
	back.want(x, what+"Spread", func(i, j int) (float64, float64) {
		k := i*w.Len() + j
		return values[k], rounding(terms, sizes[k])
	})
}

// testPacker checks a backend that is a device.Packer. It skips other backends.
func testPacker(t *testing.T, b device.Backend) {
	p, ok := b.(device.Packer)
	if !ok {
		t.Skip("the backend is not a device.Packer")
	}
	x := newBench(t, b, 22)
	for range 100 {
		m, n, k := x.size(90), x.size(90), x.size(300)
		trans := x.r.IntN(2) == 0
		right := x.oriented(k, n, trans)
		packed := p.Pack(trans, right.m)
		if packed == nil {
			continue
		}
		a, c := x.matrix(m, k), x.matrix(m, n)
		before := right.host
		b.Upload(right.m, make([]float32, len(before))) // later changes must have no effect
		p.GemmPacked(a.m, packed, 0, c.m)
		c.want(x, fmt.Sprintf("GemmPacked %d×%d·%d×%d transB=%v", m, k, k, n, trans),
			func(i, j int) (float64, float64) {
				return dot(k, 1, 0, func(l int) (float64, float64) {
					return a.at(i, l), element(right, trans, l, j)
				})
			})
		a.unchanged(x, "GemmPacked")
	}
}
