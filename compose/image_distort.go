package compose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Distortion moves the pixels of images a little, with a separate random movement for each image.
// All colours of an image move together. It turns, scales, shears and shifts the image, and
// displaces its parts smoothly. Classifiers that learn from distorted synthetic images recognise
// real ones better.
//
// It is meant for images whose class does not change under such movements, such as digits. It is
// also meant for released images: distorting private images protects no one.
type Distortion struct {
	// Strength is in units of the usual amount. At 1 an image of 28×28 pixels is turned by 0.2
	// radians, scaled by a tenth, sheared by 0.2 and shifted by one pixel. Its parts are displaced by
	// one more pixel. All amounts are standard deviations.
	Strength float64
	Seed     uint64

	// Normalize moves and scales every distorted image so that its light has the centre and the
	// size that it had before. The centre is the mean position of the light, and the size is its
	// standard distance from the centre. It is meant for images that have been centred and scaled,
	// such as those of MNIST, and for grey images only. A small error of the normalisation remains.
	Normalize bool
}

const mostDistortion = 10

// Apply returns distorted copies of images, with their labels.
//
// Errors: *[param.Error] for records that are not images, for a strength outside [0, 10], or for
// Normalize with images in colour.
func (d Distortion) Apply(t *records.Table) (*records.Table, error) {
	s := t.Schema()
	var k param.Checker
	k.OK(d.Strength >= 0 && d.Strength <= mostDistortion, "compose.Distortion.Strength", d.Strength,
		fmt.Sprintf("a number from 0 to %d", mostDistortion))
	k.OK(s.IsImage(), "compose.Distortion.Apply.t", s, "images")
	k.OK(!d.Normalize || s.Channels() == 1, "compose.Distortion.Normalize", d.Normalize,
		"false for images in colour")
	if err := k.Err(); err != nil {
		return nil, err
	}
	flat, shared := t.Flat()
	if shared {
		flat = slices.Clone(flat)
	}
	m := movement{height: s.Height(), width: s.Width(), colours: s.Channels(), strength: d.Strength,
		normalize: d.Normalize && d.Strength > 0,
		rng:       rand.New(rand.NewPCG(d.Seed, 0x646973746f7274)), out: make([]float32, s.Dim())}
	for lo := 0; lo < len(flat); lo += s.Dim() {
		m.image(flat[lo : lo+s.Dim()])
	}
	return records.FromFlat(s, flat, t.Labels()...)
}

// movement distorts images one after another.
type movement struct {
	height, width, colours int
	strength               float64
	normalize              bool
	field                  field
	rng                    *rand.Rand
	out                    []float32
}

// Standard deviations at strength 1. Lengths are fractions of the image's longer side.
const (
	rotation = 0.2 // radians
	scaling  = 0.1
	shearing = 0.2
	shifting = 1.0 / 28
	bend     = 1.0 / 28 // of each knot
	bends    = 5        // number of knots along each side
)

// image distorts one image in place.
func (d *movement) image(pixels []float32) {
	d.draw()
	d.render(pixels, straight)
	if d.normalize {
		if f, ok := d.back(pixels); ok {
			d.render(pixels, f)
		}
	}
	copy(pixels, d.out)
}

// field is the movement of one image: a linear map, a shift, and displacements at the knots.
type field struct {
	sin, cos, wide, high, slant, dx, dy float64
	bx, by                              [bends][bends]float64
}

// draw draws the movement of the next image.
func (d *movement) draw() {
	k, r, f := d.strength, d.rng, &d.field
	f.sin, f.cos = math.Sincos(k * rotation * r.NormFloat64())
	f.wide, f.high = math.Exp(k*scaling*r.NormFloat64()), math.Exp(k*scaling*r.NormFloat64())
	f.slant = k * shearing * r.NormFloat64()
	side := float64(max(d.height, d.width))
	f.dx, f.dy = k*shifting*side*r.NormFloat64(), k*shifting*side*r.NormFloat64()
	for i := range bends {
		for j := range bends {
			f.bx[i][j], f.by[i][j] = k*bend*side*r.NormFloat64(), k*bend*side*r.NormFloat64()
		}
	}
}

// render writes the distorted image to d.out. The window says which position of the distorted image
// each pixel shows.
func (d *movement) render(pixels []float32, at window) {
	f := &d.field
	midX, midY := float64(d.width-1)/2, float64(d.height-1)/2
	for i := range d.height {
		py := at.scale*float64(i) + at.y
		a, down := knot(py, d.height)
		for j := range d.width {
			px := at.scale*float64(j) + at.x
			b, right := knot(px, d.width)
			x, y := px-midX, py-midY
			u := (f.cos*x-f.sin*y)*f.wide + f.slant*y + f.dx + mixed(&f.bx, a, b, down, right)
			v := (f.sin*x+f.cos*y)*f.high + f.dy + mixed(&f.by, a, b, down, right)
			d.copy(i*d.width+j, pixels, v+midY, u+midX)
		}
	}
}

// knot returns the knot before position p of n pixels, and the fraction of the distance from it to
// the next knot. Positions outside the image are moved to its border.
func knot(p float64, n int) (at int, part float64) {
	last := float64(max(n-1, 1))
	x := min(max(p, 0), last) / last * (bends - 1)
	at = min(int(x), bends-2)
	return at, x - float64(at)
}

// mixed returns the displacement interpolated between four knots.
func mixed(b *[bends][bends]float64, i, j int, down, right float64) float64 {
	return (1-down)*((1-right)*b[i][j]+right*b[i][j+1]) + down*((1-right)*b[i+1][j]+right*b[i+1][j+1])
}

// copy sets pixel p of the distorted image to the levels at a position, interpolated between four
// pixels. Positions outside the image are moved to its border.
func (d *movement) copy(p int, pixels []float32, y, x float64) {
	y, x = min(max(y, 0), float64(d.height-1)), min(max(x, 0), float64(d.width-1))
	i, j := int(y), int(x)
	below, right := min(i+1, d.height-1), min(j+1, d.width-1)
	a, b := float32(y-float64(i)), float32(x-float64(j))
	w, n := d.width, d.colours
	for c := range n {
		d.out[p*n+c] = (1-a)*((1-b)*pixels[(i*w+j)*n+c]+b*pixels[(i*w+right)*n+c]) +
			a*((1-b)*pixels[(below*w+j)*n+c]+b*pixels[(below*w+right)*n+c])
	}
}

// A window maps pixel positions of the written image to positions of the distorted image.
type window struct{ scale, x, y float64 }

var straight = window{scale: 1}

const mostZoom = 2 // limits the effect of a few grey pixels far from the others

// back returns the window in which the light of d.out has the centre and the size that the light of
// pixels has. It returns false for images that are dark or have a single light pixel.
func (d *movement) back(pixels []float32) (window, bool) {
	want, moved := light(pixels, d.width), light(d.out, d.width)
	if !(want.size > 0 && moved.size > 0) {
		return straight, false
	}
	zoom := min(max(moved.size/want.size, 1.0/mostZoom), mostZoom)
	return window{zoom, moved.x - zoom*want.x, moved.y - zoom*want.y}, true
}

// spot is the centre of the light of an image, and its root mean square distance from there.
type spot struct{ x, y, size float64 }

// light returns the spot of the light of an image. Its size is 0 if the image is dark.
func light(pixels []float32, width int) spot {
	var m, x, y, xx, yy float64
	for at, v := range pixels {
		g, i, j := float64(v), float64(at/width), float64(at%width)
		m += g
		x += g * j
		y += g * i
		xx += g * j * j
		yy += g * i * i
	}
	if !(m > 0) {
		return spot{}
	}
	x, y = x/m, y/m
	return spot{x, y, math.Sqrt(max(xx/m-x*x, 0) + max(yy/m-y*y, 0))}
}
