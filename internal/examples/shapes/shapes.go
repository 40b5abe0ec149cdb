// Package shapes draws labelled images of ten filled shapes with grey levels inside. They are
// harder than digits, since classes differ by outline and by texture, and pixels inside a shape are
// rarely black or white.
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
	cx, cy := 13.5+2*rng.NormFloat64(), 13.5+2*rng.NormFloat64()
	size, wide := 8+1.5*rng.NormFloat64(), math.Exp(0.15*rng.NormFloat64())
	angle := 0.3 * rng.NormFloat64()
	sin, cos := math.Sincos(angle)
	base, across, down := 0.35+0.5*rng.Float64(), 0.2*rng.NormFloat64(), 0.2*rng.NormFloat64()
	grain := 0.08 * rng.Float64()
	for y := range Side {
		for x := range Side {
			dx, dy := (float64(x)-cx)/size, (float64(y)-cy)/size
			u, v := (dx*cos+dy*sin)*wide, (dy*cos-dx*sin)/wide
			in := inside(shape, u, v)
			grey := in * (base + across*u + down*v + grain*rng.NormFloat64())
			dst[y*Side+x] = uint8(255 * min(max(grey, 0), 1))
		}
	}
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
