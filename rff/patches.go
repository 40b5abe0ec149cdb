package rff

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Patches is a kernel for images. It is the mean of Gaussian kernels of several length scales on
// windows of several sizes at all positions. The largest window is the whole image. Small windows
// detect the same stroke in images that otherwise differ. Large windows compare the relative
// positions of strokes.
//
// The features are random, as for any shift-invariant kernel. A frequency is a patch of smoothed
// noise at a random position, and a feature is the cosine or sine of the image's projection onto
// it. Frequencies do not depend on images, empty windows need no special treatment, and norms are
// exactly 1.
//
// Smoothing removes details that are finer than a pen stroke. A stroke is then still similar to its
// copy moved by half its width.
type Patches struct {
	Dim int `json:"dim"` // number of features, even
	// Windows are the sides of windows as fractions of the image's side; 1 or more means the whole
	// image with uniform weight. All windows have the same number of features.
	Windows []float64 `json:"windows"`
	// Blur is the standard deviation, in pixels, of the smoothing.
	Blur float64 `json:"blur"`
	// Low and High are the smallest and the largest length scale; the length scales are spread evenly
	// on a logarithmic scale. A length scale has the meaning of the bandwidth of an [RBF] on the whole
	// image. For every window, frequencies have the same average length as the frequencies of this
	// RBF.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// PatchesFor returns the settings that gave the best results for grey images of handwriting, scaled
// to the size of the images.
//
// The settings were chosen on generated digits of 28×28 pixels, not on records. They are windows
// from 0.4 of the side to the whole image, smoothing by one pixel, and length scales from 7 to 20.
// Longer scales distinguish digits poorly. With shorter scales, images far from every record have
// no gradient, so a generator cannot improve them. If an image has twice the side, every stroke has
// four times the ink, so scales are proportional to the area.
func PatchesFor(dim, height, width int) Patches {
	area := max(float64(height)*float64(width), 1) / (28 * 28)
	return Patches{Dim: dim, Windows: []float64{0.4, 0.7, 1}, Blur: math.Sqrt(area), Low: 7 * area,
		High: 20 * area}
}

// Embedding implements [EmbeddingKernel]. Errors: *param.Error, also for a layout that does not
// describe images.
func (c Patches) Embedding(l Layout, seed uint64) (Embedding, error) {
	var k param.Checker
	l.validate(&k)
	if c.validate(&k, l); k.Err() != nil {
		return nil, k.Err()
	}
	length := Scales{Low: c.Low, High: c.High}.length()
	s := spectrum{name: "Patches", dim: c.Dim, draw: newBrush(c, l).draw, length: length}
	return orNil[Embedding](build(&k, nil, s, l.In, seed))
}

func (c Patches) validate(k *param.Checker, l Layout) {
	k.OK(l.image(), "rff.Patches: layout", "records that are not images", "images")
	k.OK(len(c.Windows) > 0, "rff.Patches.Windows", c.Windows, "at least one side")
	for i, w := range c.Windows {
		k.OK(w > 0 && w <= 1e6, fmt.Sprintf("rff.Patches.Windows[%d]", i), w,
			"a positive fraction of the image's side")
	}
	k.OK(c.Blur >= 0 && c.Blur <= 1e3, "rff.Patches.Blur", c.Blur, "from 0 to 1000 pixels")
	checkRange(k, "Patches", c.Low, c.High)
}

// brush draws patches of smoothed noise.
type brush struct {
	height, width, channels int
	windows                 []float64
	kernel                  []float64 // weights of the smoothing along one direction
	scratch                 []float64
	next                    int // the next window
}

func newBrush(c Patches, l Layout) *brush {
	b := &brush{height: l.Height, width: l.Width, channels: l.In / (l.Height * l.Width)}
	b.windows = append(b.windows, c.Windows...)
	b.kernel = bell(c.Blur)
	return b
}

// bell returns a discrete Gaussian, cut off at three standard deviations.
func bell(sigma float64) []float64 {
	if sigma == 0 {
		return []float64{1}
	}
	r := int(math.Ceil(3 * sigma))
	k := make([]float64, 2*r+1)
	for i := range k {
		d := float64(i-r) / sigma
		k[i] = math.Exp(-d * d / 2)
	}
	return k
}

// draw fills w with a patch whose length is the root mean square length of white noise on the whole
// image.
func (b *brush) draw(rng *rand.Rand, w []float64) {
	if b.scratch == nil { // not before a frequency is drawn, since a schema may come from a file
		b.scratch = make([]float64, len(w))
	}
	normal(rng, w, 1)
	smooth(b.kernel, b.scratch, w, b.channels, b.width)
	smooth(b.kernel, w, b.scratch, b.channels*b.width, b.height)
	window := b.windows[b.next%len(b.windows)]
	b.next++
	if window < 1 {
		b.mask(rng, w, window)
	}
	if !scaleToUnit(w) {
		normal(rng, w, 1) // if the window is far smaller than a pixel, the mask is zero everywhere
		scaleToUnit(w)
	}
	for i := range w {
		w[i] *= math.Sqrt(float64(len(w)))
	}
}

// smooth convolves an image with a bell along one direction, in which it has n numbers at
// distance step. Values outside the image are 0.
func smooth(bell, dst, src []float64, step, n int) {
	r := len(bell) / 2
	for i := range dst {
		at := i / step % n
		var s float64
		for k := max(-r, -at); k <= min(r, n-1-at); k++ {
			s += bell[k+r] * src[i+k*step]
		}
		dst[i] = s
	}
}

// mask multiplies w by a bell around a random position. The standard deviation of the bell is a
// third of the window's side.
func (b *brush) mask(rng *rand.Rand, w []float64, window float64) {
	y, height := centre(rng, b.height, window)
	x, width := centre(rng, b.width, window)
	for i := range w {
		p := i / b.channels
		dy, dx := (float64(p/b.width)-y)/height, (float64(p%b.width)-x)/width
		w[i] *= math.Exp(-(dy*dy + dx*dx) / 2)
	}
}

// centre draws the middle of a window along a side of n pixels such that at least three quarters of
// the window are inside. It also returns the standard deviation of the bell.
func centre(rng *rand.Rand, n int, window float64) (at, sigma float64) {
	side := window * float64(n)
	return side/4 + rng.Float64()*(float64(n-1)-side/2), side / 3
}
