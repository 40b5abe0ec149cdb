package digits

import (
	"math"
	"math/rand/v2"
)

// hand describes the handwriting of one image.
type hand struct {
	xx, xy, yx, yy float64 // linear map to pixels: size, slant and rotation
	shift          point
	weight         float64 // width in pixels that the pen adds to either side of a stroke
	waves          [4]wave // the tremor, a smooth warp of the page
	blur           float64
	contrast       float64
	grain          float64
}

// wave displaces a point along d by a sine of the point's position along k.
type wave struct {
	k, d  point
	phase float64
}

// digitHeight is the height of an average digit, and penWidth the width of its strokes, in pixels.
const (
	digitHeight = 19.5
	penWidth    = 2.45
)

// newHand draws a random hand for a shape whose strokes have the given width.
func newHand(rng *rand.Rand, stroke float64) hand {
	h := hand{
		blur:     0.10 + 0.15*rng.Float64(),
		contrast: 1.2 + 0.5*rng.Float64(),
		grain:    0.03 + 0.05*rng.Float64(),
		shift:    point{Side/2 + 0.6*rng.NormFloat64(), Side/2 + 0.6*rng.NormFloat64()},
	}
	h.linear(rng)
	width := penWidth * math.Exp(0.27*within(rng, 2))
	h.weight = (width - stroke*digitHeight) / 2
	for i := range h.waves {
		h.waves[i] = newWave(rng)
	}
	return h
}

// linear draws a random size, slant and rotation.
func (h *hand) linear(rng *rand.Rand) {
	height := digitHeight * (1 + 0.06*within(rng, 2))
	width := height * (1 + 0.15*within(rng, 2))
	slant := 0.08 + 0.22*within(rng, 2)
	sin, cos := math.Sincos(0.10 * within(rng, 2.2))
	// The map applies size first, then slant, then rotation. y points down, so a slant to the right
	// moves points above the middle by −slant·y.
	h.xx, h.xy = cos*width, -cos*slant*height-sin*height
	h.yx, h.yy = sin*width, -sin*slant*height+cos*height
}

func newWave(rng *rand.Rand) wave {
	angle := 2 * math.Pi * rng.Float64()
	size := 0.052 * within(rng, 2)
	frequency := 2 * math.Pi * (0.4 + 0.6*rng.Float64())
	along := 2 * math.Pi * rng.Float64()
	return wave{
		k:     point{frequency * math.Cos(angle), frequency * math.Sin(angle)},
		d:     point{size * math.Cos(along), size * math.Sin(along)},
		phase: 2 * math.Pi * rng.Float64(),
	}
}

// within returns a standard normal number drawn again until it is within the limit.
func within(rng *rand.Rand, limit float64) float64 {
	for {
		if x := rng.NormFloat64(); math.Abs(x) <= limit {
			return x
		}
	}
}

// write appends the polygon to dst as this hand writes it, in pixels.
func (h *hand) write(dst []point, polygon []point) []point {
	first := len(dst)
	for _, p := range polygon {
		dst = append(dst, h.place(p))
	}
	h.press(dst[first:])
	return dst
}

// place maps a point of the font to the page.
func (h *hand) place(p point) point {
	q := p
	for _, w := range h.waves {
		s := math.Sin(w.k.x*p.x + w.k.y*p.y + w.phase)
		q.x += w.d.x * s
		q.y += w.d.y * s
	}
	return point{h.xx*q.x + h.xy*q.y + h.shift.x, h.yx*q.x + h.yy*q.y + h.shift.y}
}

// press moves every point of a closed polygon outward by the pen's weight. Holes have the opposite
// orientation, so a heavier pen makes them smaller.
func (h *hand) press(path []point) {
	n := len(path)
	if n < 3 {
		return
	}
	first, before := path[0], path[n-1]
	for i := range path {
		next := first
		if i+1 < n {
			next = path[i+1]
		}
		here := path[i]
		dx, dy := next.x-before.x, next.y-before.y
		if length := math.Hypot(dx, dy); length > 1e-9 {
			path[i].x += h.weight * dy / length
			path[i].y -= h.weight * dx / length
		}
		before = here
	}
}
