package shapes

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// ColourSide is the height and the width of an image in colour, which are those of CIFAR-10.
const ColourSide = 32

// ColourSchema describes the images in colour: 32×32 pixels, labelled by shape.
func ColourSchema() records.Schema {
	return records.RGBImage(ColourSide, ColourSide).WithLabels(names...)
}

// DrawColour draws n images in colour, each of a class chosen uniformly. Image i depends on seed
// and i alone.
//
// The hue of a shape is that of its class with a standard deviation of 25 degrees, and the
// background has any hue. So a shape's colour says something about its class, but neighbouring
// classes share most of their colours.
func DrawColour(n int, seed uint64) (*records.Table, error) {
	s := ColourSchema()
	pixels, labels := make([]uint8, n*s.Dim()), make([]int32, n)
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		labels[i] = int32(rng.IntN(len(names)))
		drawColour(rng, int(labels[i]), pixels[i*s.Dim():(i+1)*s.Dim()])
	}
	return records.FromBytes(s, pixels, labels...)
}

// drawColour writes one image: a shape before a background, both with a ramp and grain.
func drawColour(rng *rand.Rand, shape int, dst []uint8) {
	p := placed(rng, ColourSide)
	degrees := 360*float64(shape)/float64(len(names)) + 25*rng.NormFloat64()
	front := paint{hue(degrees, 0.6), 0.5 + 0.4*rng.Float64(), ramp(rng)}
	back := paint{hue(360*rng.Float64(), 0.3), 0.1 + 0.5*rng.Float64(), ramp(rng)}
	grain := 0.06 * rng.Float64()
	for y := range ColourSide {
		for x := range ColourSide {
			u, v := p.of(x, y)
			in := inside(shape, u, v)
			noise := grain * rng.NormFloat64()
			for c := range 3 {
				level := in*front.at(c, u, v) + (1-in)*back.at(c, u, v) + noise
				dst[(y*ColourSide+x)*3+c] = uint8(255 * min(max(level, 0), 1))
			}
		}
	}
}

// paint is a colour with a brightness that changes across the image.
type paint struct {
	colour [3]float64
	light  float64
	ramp   [2]float64
}

func ramp(rng *rand.Rand) [2]float64 {
	return [2]float64{0.1 * rng.NormFloat64(), 0.1 * rng.NormFloat64()}
}

func (p paint) at(c int, u, v float64) float64 {
	return p.colour[c] * (p.light + p.ramp[0]*u + p.ramp[1]*v)
}

// hue returns red, green and blue of a hue. Its levels differ by up to the given strength.
func hue(degrees, strength float64) (rgb [3]float64) {
	for c := range rgb {
		rgb[c] = 1 - strength/2 + strength/2*math.Cos((degrees-120*float64(c))*math.Pi/180)
	}
	return rgb
}
