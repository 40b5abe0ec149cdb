//go:build cuda && cgo

package cuda

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
)

// Im2Col copies patches.
func (g *gpu) Im2Col(w device.Window, dst, src device.Matrix) {
	g.wantSlide("Im2Col", w, dst, src)
	if dst.Empty() {
		return
	}
	if src.Empty() { // patches of an image without pixels contain only margins
		g.Fill(dst, 0)
		return
	}
	down, across := w.Grid()
	g.begin()
	defer g.end()
	g.kernel(im2colKernel).matrix(dst).matrix(src).int(src.Rows).window(w).int(down).int(across).
		each(dst.Rows * dst.Cols)
}

// Col2Im adds up patches.
func (g *gpu) Col2Im(w device.Window, dst, src device.Matrix) {
	g.wantSlide("Col2Im", w, src, dst)
	if dst.Empty() {
		return
	}
	if src.Empty() {
		g.Fill(dst, 0)
		return
	}
	down, across := w.Grid()
	g.begin()
	defer g.end()
	g.kernel(col2imKernel).matrix(dst).matrix(src).int(dst.Rows).window(w).int(down).int(across).
		each(dst.Rows * dst.Cols)
}

func (g *gpu) wantSlide(what string, w device.Window, patches, images device.Matrix) {
	wantImage(what, w.Image)
	if w.Size < 1 || w.Stride < 1 || w.Pad < 0 {
		panic(fmt.Sprintf("cuda: %s: window of size %d, stride %d and padding %d; want at least 1, 1, 0",
			what, w.Size, w.Stride, w.Pad))
	}
	g.wantShape(what, images, images.Rows, w.Len())
	g.wantShape(what, patches, images.Rows*w.Places(), w.Patch())
}

func wantImage(what string, m device.Image) {
	if m.Height < 0 || m.Width < 0 || m.Channels < 0 {
		panic(fmt.Sprintf("cuda: %s: negative image size %d×%d×%d", what, m.Height, m.Width,
			m.Channels))
	}
}

// UpSample doubles the height and width of images.
func (g *gpu) UpSample(m device.Image, dst, src device.Matrix) {
	g.scaleImages("UpSample", upSampleKernel, m, dst, src, dst, src)
}

// UpSampleGradient is the transpose of UpSample.
func (g *gpu) UpSampleGradient(m device.Image, dst, src device.Matrix) {
	g.scaleImages("UpSampleGradient", upSampleGradientKernel, m, dst, src, src, dst)
}

func (g *gpu) scaleImages(what string, kernel int, m device.Image,
	dst, src, large, small device.Matrix) {
	wantImage(what, m)
	g.wantShape(what, small, small.Rows, m.Len())
	g.wantShape(what, large, small.Rows, 4*m.Len())
	if small.Empty() {
		return
	}
	g.begin()
	defer g.end()
	const bilinear = 1 // the kernels can also copy the nearest pixel
	g.kernel(kernel).matrix(dst).matrix(src).int(small.Rows).image(m).int(bilinear).each(
		dst.Rows * dst.Cols)
}
