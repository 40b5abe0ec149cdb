package digits

import (
	"image"
	"image/draw"
	"math"
	"math/rand/v2"

	"golang.org/x/image/vector"
)

// fine is the number of raster pixels for one image pixel in each direction.
const fine = 2

// canvas is the side of the raster.
const canvas = Side * fine

// pen draws digits. It has buffers, so only one goroutine may use it.
type pen struct {
	faces  []face
	raster *vector.Rasterizer
	page   *image.Alpha
	grey   []float64
	work   []float64
	path   []point
}

func newPen(faces []face) *pen {
	return &pen{
		faces:  faces,
		raster: vector.NewRasterizer(canvas, canvas),
		page:   image.NewAlpha(image.Rect(0, 0, canvas, canvas)),
		grey:   make([]float64, canvas*canvas),
		work:   make([]float64, canvas*canvas),
	}
}

// draw writes one image of a digit.
func (p *pen) draw(rng *rand.Rand, digit int, dst []uint8) {
	choices := p.faces[rng.IntN(len(p.faces))][digit]
	glyph := choices[rng.IntN(len(choices))]
	h := newHand(rng, glyph.stroke)
	p.ink(h, glyph.outline)
	p.blur(h.blur)
	p.expose(rng, h, dst)
}

// ink rasterises the outline as this hand writes it.
func (p *pen) ink(h hand, o outline) {
	p.raster.Reset(canvas, canvas)
	p.raster.DrawOp = draw.Src
	for _, polygon := range o {
		p.path = h.write(p.path[:0], polygon)
		for i, q := range p.path {
			x, y := float32(q.x*fine), float32(q.y*fine)
			if i == 0 {
				p.raster.MoveTo(x, y)
			} else {
				p.raster.LineTo(x, y)
			}
		}
		p.raster.ClosePath()
	}
	p.raster.Draw(p.page, p.page.Bounds(), image.Opaque, image.Point{})
	for i, a := range p.page.Pix {
		p.grey[i] = float64(a) / 255
	}
}

// blur smooths the raster with four passes of three taps, two in each direction. Each pass has a
// variance of variance/2 image pixels squared.
func (p *pen) blur(variance float64) {
	side := variance * fine * fine / 2
	centre := 1 - 2*side
	for pass := 0; pass < 2; pass++ {
		convolve(p.work, p.grey, side, centre, 1, canvas)
		convolve(p.grey, p.work, side, centre, canvas, 1)
	}
}

// convolve filters lines. The elements of a line are step apart, and the starts of two lines are
// stride apart. Elements beyond the ends of a line count as blank paper.
func convolve(dst, src []float64, side, centre float64, step, stride int) {
	for line := range canvas {
		before := 0.0
		at := line * stride
		for range canvas - 1 {
			here := src[at]
			dst[at] = side*(before+src[at+step]) + centre*here
			before = here
			at += step
		}
		dst[at] = side*before + centre*src[at]
	}
}

// expose averages the raster into pixels, with the hand's contrast and the
// scanner's grain. Paper without ink stays blank.
func (p *pen) expose(rng *rand.Rand, h hand, dst []uint8) {
	for y := range Side {
		for x := range Side {
			at := y*fine*canvas + x*fine
			ink := (p.grey[at] + p.grey[at+1] + p.grey[at+canvas] + p.grey[at+canvas+1]) / (fine * fine)
			v := (ink-0.5)*h.contrast + 0.5
			if ink < 0.02 || v <= 0 {
				dst[y*Side+x] = 0
				continue
			}
			v += h.grain * rng.NormFloat64() * min(v, 1)
			dst[y*Side+x] = uint8(math.Round(255 * min(max(v, 0), 1)))
		}
	}
}
