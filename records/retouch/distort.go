package retouch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// Distortion moves the pixels of grey images a little, with a separate random movement for each
// image. It turns, scales, shears and shifts the image, and displaces its parts smoothly.
// Classifiers that learn from distorted synthetic images recognise real ones better.
//
// It is meant for images whose class does not change under such movements, such as digits. It is
// also meant for released images: distorting private images protects no one.
type Distortion struct {
	// Strength is in units of the usual amount. At 1 an image of 28×28 pixels is turned by 0.2
	// radians, scaled by a tenth, sheared by 0.2 and shifted by one pixel. Its parts are displaced by
	// one more pixel. All amounts are standard deviations.
	Strength float64
	Seed     uint64
}

const mostStrength = 10

// Apply returns distorted copies of grey images, with their labels.
//
// Errors: *[param.Error] for records that are not grey images, or for a strength outside [0, 10].
func (d Distortion) Apply(t *records.Table) (*records.Table, error) {
	s := t.Schema()
	var k param.Checker
	k.OK(d.Strength >= 0 && d.Strength <= mostStrength, "retouch.Distortion.Strength", d.Strength,
		fmt.Sprintf("a number from 0 to %d", mostStrength))
	k.OK(s.Kind() == records.GreyImage, "retouch.Distortion.Apply.t", s, "images of grey levels")
	if err := k.Err(); err != nil {
		return nil, err
	}
	flat, shared := t.Flat()
	if shared {
		flat = slices.Clone(flat)
	}
	m := movement{height: s.Height(), width: s.Width(), strength: d.Strength,
		rng: rand.New(rand.NewPCG(d.Seed, 0x646973746f7274)), out: make([]float32, s.Dim())}
	for lo := 0; lo < len(flat); lo += s.Dim() {
		m.image(flat[lo : lo+s.Dim()])
	}
	return records.FromFlat(s, flat, t.Labels()...)
}

// movement distorts images one after another.
type movement struct {
	height, width int
	strength      float64
	rng           *rand.Rand
	out           []float32
}

// Standard deviations at strength 1. Lengths are fractions of the image's longer side.
const (
	rotation = 0.2 // radians
	scaling  = 0.1
	shear    = 0.2
	shift    = 1.0 / 28
	bend     = 1.0 / 28 // of each knot
	knots    = 5        // number of knots along each side
)

// image distorts one image in place.
func (d *movement) image(pixels []float32) {
	k, r := d.strength, d.rng
	sin, cos := math.Sincos(k * rotation * r.NormFloat64())
	wide, high := math.Exp(k*scaling*r.NormFloat64()), math.Exp(k*scaling*r.NormFloat64())
	slant := k * shear * r.NormFloat64()
	side := float64(max(d.height, d.width))
	dx, dy := k*shift*side*r.NormFloat64(), k*shift*side*r.NormFloat64()
	var bx, by [knots][knots]float64
	for i := range knots {
		for j := range knots {
			bx[i][j], by[i][j] = k*bend*side*r.NormFloat64(), k*bend*side*r.NormFloat64()
		}
	}
	midX, midY := float64(d.width-1)/2, float64(d.height-1)/2
	for i := range d.height {
		a, down := knot(i, d.height)
		for j := range d.width {
			b, right := knot(j, d.width)
			x, y := float64(j)-midX, float64(i)-midY
			u := (cos*x-sin*y)*wide + slant*y + dx + mixed(&bx, a, b, down, right)
			v := (sin*x+cos*y)*high + dy + mixed(&by, a, b, down, right)
			d.out[i*d.width+j] = d.at(pixels, v+midY, u+midX)
		}
	}
	copy(pixels, d.out)
}

// knot returns the knot before pixel i of n, and the fraction of the distance from it to the next
// knot.
func knot(i, n int) (at int, part float64) {
	x := float64(i) / float64(max(n-1, 1)) * (knots - 1)
	at = min(int(x), knots-2)
	return at, x - float64(at)
}

// mixed returns the displacement interpolated between four knots.
func mixed(b *[knots][knots]float64, i, j int, down, right float64) float64 {
	return (1-down)*((1-right)*b[i][j]+right*b[i][j+1]) +
		down*((1-right)*b[i+1][j]+right*b[i+1][j+1])
}

// at returns the grey level interpolated between four pixels. Positions outside the image are moved
// to its border.
func (d *movement) at(pixels []float32, y, x float64) float32 {
	y, x = min(max(y, 0), float64(d.height-1)), min(max(x, 0), float64(d.width-1))
	i, j := int(y), int(x)
	below, right := min(i+1, d.height-1), min(j+1, d.width-1)
	p, q := float32(y-float64(i)), float32(x-float64(j))
	w := d.width
	return (1-p)*((1-q)*pixels[i*w+j]+q*pixels[i*w+right]) +
		p*((1-q)*pixels[below*w+j]+q*pixels[below*w+right])
}
