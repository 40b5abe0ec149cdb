package device

import "fmt"

// Image describes an image that is one row of a matrix: Height·Width pixels, row by row from the
// top left. The Channels numbers of a pixel are adjacent, so a batch of images can be reshaped to a
// matrix of pixels by channels.
type Image struct {
	Height, Width, Channels int
}

// Len returns the number of values of an image.
func (m Image) Len() int { return m.Height * m.Width * m.Channels }

// Doubled returns the form of an image that is twice as high and twice as wide.
func (m Image) Doubled() Image { return Image{2 * m.Height, 2 * m.Width, m.Channels} }

func (m Image) check(what string) {
	if m.Height < 0 || m.Width < 0 || m.Channels < 0 {
		panic(fmt.Sprintf("device: %s: negative image size %d×%d×%d", what, m.Height, m.Width,
			m.Channels))
	}
}

// Window is a square of Size×Size pixels that moves over an image in steps of Stride pixels,
// starting Pad pixels outside its top left corner. Pixels outside the image are zero. The pixels
// that the window sees at one place, row by row, are a patch.
type Window struct {
	Image
	Size, Stride, Pad int
}

// Grid returns the number of places that the window visits vertically and horizontally.
func (w Window) Grid() (height, width int) {
	return w.places(w.Height), w.places(w.Width)
}

func (w Window) places(n int) int {
	if n += 2*w.Pad - w.Size; n < 0 {
		return 0
	}
	return n/w.Stride + 1
}

// Places returns the number of places that the window visits.
func (w Window) Places() int {
	height, width := w.Grid()
	return height * width
}

// Patch returns the number of values that the window sees at one place.
func (w Window) Patch() int { return w.Size * w.Size * w.Channels }

func (w Window) check(what string) {
	w.Image.check(what)
	if w.Size < 1 || w.Stride < 1 || w.Pad < 0 {
		panic(fmt.Sprintf("device: %s: window of size %d, stride %d and padding %d; want at least 1, 1, 0",
			what, w.Size, w.Stride, w.Pad))
	}
}

// clip restricts the n pixels that begin at position `at` to [0, limit). The first skip pixels lie
// before 0, and the next keep pixels lie inside.
func clip(at, n, limit int) (skip, keep int) {
	skip = min(max(-at, 0), n)
	return skip, max(min(n, limit-at)-skip, 0)
}
