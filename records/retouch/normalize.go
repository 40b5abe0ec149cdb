package retouch

import "math"

// A frame maps pixel positions of the written image to positions of the distorted image.
type frame struct{ scale, x, y float64 }

var straight = frame{scale: 1}

const mostZoom = 2 // limits the effect of a few grey pixels far from the others

// back returns the frame in which the light of d.out has the centre and the size that the light of
// pixels has. It returns false for images that are dark or have a single light pixel.
func (d *movement) back(pixels []float32) (frame, bool) {
	want, moved := light(pixels, d.width), light(d.out, d.width)
	if !(want.size > 0 && moved.size > 0) {
		return straight, false
	}
	zoom := min(max(moved.size/want.size, 1.0/mostZoom), mostZoom)
	return frame{zoom, moved.x - zoom*want.x, moved.y - zoom*want.y}, true
}

// place is the centre of the light of an image, and its root mean square distance from there.
type place struct{ x, y, size float64 }

// light returns the place of the light of an image. Its size is 0 if the image is dark.
func light(pixels []float32, width int) place {
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
		return place{}
	}
	x, y = x/m, y/m
	return place{x, y, math.Sqrt(max(xx/m-x*x, 0) + max(yy/m-y*y, 0))}
}
