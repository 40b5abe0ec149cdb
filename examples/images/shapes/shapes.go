// Package shapes draws labelled images of ten filled shapes, in grey or in colour. Their pixels are
// rarely black or white. Grey shapes are harder than digits, since classes differ by outline and by
// texture.
package shapes

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// Side is the height and the width of an image.
const Side = 28

var names = []string{"disc", "ring", "square", "triangle", "cross", "bars", "checks", "half moon",
	"two discs", "arrow"}

// Schema describes the images: 28×28 grey levels, labelled by shape.
func Schema() records.Schema { return records.Image(Side, Side).WithLabels(names...) }

// Draw draws n images, each of a class chosen uniformly. Image i depends on seed and i alone.
func Draw(n int, seed uint64) (*records.Table, error) {
	pixels, labels := make([]uint8, n*Side*Side), make([]int32, n)
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		labels[i] = int32(rng.IntN(len(names)))
		draw(rng, int(labels[i]), pixels[i*Side*Side:(i+1)*Side*Side])
	}
	return records.FromBytes(Schema(), pixels, labels...)
}

// draw writes one image: a shape with random position, size, angle and proportions, filled with a
// grey ramp and grain.
func draw(rng *rand.Rand, shape int, dst []uint8) {
	p := placed(rng, Side)
	base, across, down := 0.35+0.5*rng.Float64(), 0.2*rng.NormFloat64(), 0.2*rng.NormFloat64()
	grain := 0.08 * rng.Float64()
	for y := range Side {
		for x := range Side {
			u, v := p.of(x, y)
			in := inside(shape, u, v)
			grey := in * (base + across*u + down*v + grain*rng.NormFloat64())
			dst[y*Side+x] = uint8(255 * min(max(grey, 0), 1))
		}
	}
}

// place is the position, the size, the angle and the proportions of a shape.
type place struct{ x, y, size, wide, sin, cos float64 }

// placed draws the place of a shape in an image of side×side pixels.
func placed(rng *rand.Rand, side int) (p place) {
	unit := float64(side) / Side
	middle := float64(side-1) / 2
	p.x, p.y = middle+2*unit*rng.NormFloat64(), middle+2*unit*rng.NormFloat64()
	p.size, p.wide = unit*(8+1.5*rng.NormFloat64()), math.Exp(0.15*rng.NormFloat64())
	p.sin, p.cos = math.Sincos(0.3 * rng.NormFloat64())
	return p
}

// of returns the coordinates of a pixel in a shape of about unit radius.
func (p place) of(x, y int) (u, v float64) {
	dx, dy := (float64(x)-p.x)/p.size, (float64(y)-p.y)/p.size
	return (dx*p.cos + dy*p.sin) * p.wide, (dy*p.cos - dx*p.sin) / p.wide
}

// edge is the width of the fading edge of an outline, in units of the shape's size.
const edge = 0.15

// step returns 1 for distances far below zero, 0 for distances far above zero, and a ramp in
// between.
func step(distance float64) float64 { return min(max(0.5-distance/edge, 0), 1) }

// inside returns the degree, from 0 to 1, to which a point is inside a shape of about unit radius.
func inside(shape int, u, v float64) float64 {
	r := math.Hypot(u, v)
	box := func(u, v, a, b float64) float64 { return step(max(math.Abs(u)-a, math.Abs(v)-b)) }
	switch names[shape] {
	case "disc":
		return step(r - 1)
	case "ring":
		return step(math.Abs(r-0.8) - 0.22)
	case "square":
		return box(u, v, 0.85, 0.85)
	case "triangle":
		return step(max(v-0.8, math.Abs(u)*1.6-v*0.8-0.65))
	case "cross":
		return max(box(u, v, 1, 0.3), box(u, v, 0.3, 1))
	case "bars":
		return box(u, v, 0.9, 0.9) * step(math.Abs(math.Mod(u+3, 0.7)-0.35)-0.18)
	case "checks":
		return box(u, v, 0.9, 0.9) * step(0.3*math.Sin(4*u)*math.Sin(4*v))
	case "half moon":
		return min(step(r-1), step(0.75-math.Hypot(u-0.55, v)))
	case "two discs":
		return max(step(math.Hypot(u-0.55, v)-0.45), step(math.Hypot(u+0.55, v)-0.45))
	}
	return max(box(u, v+0.3, 0.25, 0.7), step(max(v-0.95, math.Abs(u)+v-1, 0.15-v)))
}
