package device

import "fmt"

// Image is the form of an image that is one row of a matrix: Height·Width pixels, row by row from
// the top left, the Channels numbers of a pixel side by side. A batch of images, reshaped, is thus
// a matrix of pixels by channels.
type Image struct {
	Height, Width, Channels int
}

// Len returns how many numbers an image has.
func (m Image) Len() int { return m.Height * m.Width * m.Channels }

// Doubled returns the form of an image twice as high and wide.
func (m Image) Doubled() Image { return Image{2 * m.Height, 2 * m.Width, m.Channels} }

func (m Image) check(what string) {
	if m.Height < 0 || m.Width < 0 || m.Channels < 0 {
		panic(fmt.Sprintf("device: %s: an image of %d×%d×%d", what, m.Height, m.Width, m.Channels))
	}
}

// Window is a square that slides over an image in steps of Stride pixels, starting Pad pixels
// outside its corner; outside the image it sees zeros. What it sees at one place is a patch: Size²
// pixels row by row.
type Window struct {
	Image
	Size, Stride, Pad int
}

// Grid returns how many places the window visits downwards and sideways.
func (w Window) Grid() (height, width int) {
	return w.places(w.Height), w.places(w.Width)
}

func (w Window) places(n int) int {
	if n += 2*w.Pad - w.Size; n < 0 {
		return 0
	}
	return n/w.Stride + 1
}

// Places returns how many places the window visits.
func (w Window) Places() int {
	height, width := w.Grid()
	return height * width
}

// Patch returns how many numbers the window sees at a place.
func (w Window) Patch() int { return w.Size * w.Size * w.Channels }

func (w Window) check(what string) {
	w.Image.check(what)
	if w.Size < 1 || w.Stride < 1 || w.Pad < 0 {
		panic(fmt.Sprintf("device: %s: a window of size %d, stride %d and padding %d", what, w.Size,
			w.Stride, w.Pad))
	}
}

// clip cuts the n pixels from position at on to those inside [0, limit): skip lie before, keep
// inside.
func clip(at, n, limit int) (skip, keep int) {
	skip = min(max(-at, 0), n)
	return skip, max(min(n, limit-at)-skip, 0)
}

// UpSampling says how the pixels between those of a smaller image are made.
type UpSampling int

const (
	Nearest UpSampling = iota // copies of the nearest pixel
	// ¾ of the nearest and ¼ of the next in each direction; edges are repeated
	Bilinear
	upSamplings
)

func (u UpSampling) check(what string) {
	if u < 0 || u >= upSamplings {
		panic(fmt.Sprintf("device: %s: no up-sampling has number %d", what, int(u)))
	}
}
