package rff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Scattering describes images by a wavelet scattering transform of two scales and two orders.
// The first order consists of the moduli of the image's convolutions with oriented wavelets. The
// second order consists of the moduli of the first order's convolutions with wavelets. All moduli
// are averaged over cells of 4×4 pixels. The wavelets are fixed, so nothing is learnt from records.
// The features are meant for linear classifiers and for clustering; a generator cannot be trained
// against them.
//
// With L orientations there are 1 + 2L + L² channels, which is 81 for the default of 8. An image in
// colour has as many for each of its colours, which are transformed one after another. In the row
// of a record, every group of channels is normalised to mean 0 and variance 1 (group
// normalisation). The whole row is then normalised to norm 1, or to 0 for a black image. So a
// private sum of rows has sensitivity 1. A row depends on its image only.
//
// Source: Bruna and Mallat 2013 (scattering); Tramèr and Boneh 2021 (for private classifiers, with
// group normalisation).
type Scattering struct {
	Orientations int `json:"orientations"`    // number of angles between 0 and π; 0 means 8
	Group        int `json:"group,omitempty"` // channels in a group; 0 means 3
}

func (c Scattering) withDefaults() Scattering {
	c.Orientations, c.Group = cmp.Or(c.Orientations, 8), cmp.Or(c.Group, 3)
	return c
}

const mostAngles = 64

func (c Scattering) channels() int { return 1 + 2*c.Orientations + c.Orientations*c.Orientations }

// Features implements [FeatureKernel]. Errors: *param.Error, also for a layout that does not
// describe images.
func (c Scattering) Features(l Layout, _ uint64) (Features, error) {
	return orNil[Features](c.new(l))
}

func (c Scattering) new(l Layout) (*scatteringMap, error) {
	c = c.withDefaults()
	var k param.Checker
	l.validate(&k)
	if c.validate(&k, l); k.Err() != nil {
		return nil, k.Err()
	}
	return &scatteringMap{config: c, height: l.Height, width: l.Width,
		colours: l.In / (l.Height * l.Width)}, nil
}

func (c Scattering) validate(k *param.Checker, l Layout) {
	k.OK(l.image(), "rff.Scattering: layout",
		fmt.Sprintf("%d numbers of %d×%d pixels", l.In, l.Height, l.Width), "images")
	k.OK(c.Orientations >= 1 && c.Orientations <= mostAngles, "rff.Scattering.Orientations",
		c.Orientations, "from 1 to 64")
	k.OK(c.Group >= 1 && c.Group <= 1<<13, "rff.Scattering.Group", c.Group, "from 1 to 8192")
}

// scatteringMap computes the features of [Scattering] for images of one size. It is safe for
// concurrent use.
//
// Guarantee: the float32 row that Transform writes has a Euclidean norm of at most 1 for every
// record, even if values of the record are not finite.
type scatteringMap struct {
	config        Scattering
	height, width int
	colours       int
}

// half returns the number of cells of two pixels along a side of n pixels.
func half(n int) int { return (n + 1) / 2 }

// In returns the width of a record.
func (m *scatteringMap) In() int { return m.height * m.width * m.colours }

// Dim returns the number of features.
func (m *scatteringMap) Dim() int { return m.colours * m.plane() }

// plane returns the number of features of one colour.
func (m *scatteringMap) plane() int {
	return m.config.channels() * half(half(m.height)) * half(half(m.width))
}

// NormBound returns 1.
func (m *scatteringMap) NormBound() float64 { return 1 }

// Transform writes the features of the batch's records into dst. It computes on the host for every
// device.
//
// Shapes: dst is b.Rows × Dim in be's memory; records have width In.
func (m *scatteringMap) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	x, out := hostRows(be, b), hostDst(be, dst)
	parallel(be, b.Rows, 300*m.In(), func(lo, hi int) {
		newScatterer(m, hi-lo).transform(x.RowRange(lo, hi), out.RowRange(lo, hi))
	})
	toDevice(be, dst, out)
}

const mostColours = 1 << 10 // of a map that is read

type scatteringFile struct {
	Scattering Scattering `json:"scattering"`
	Height     int        `json:"height"`
	Width      int        `json:"width"`
	Colours    int        `json:"colours,omitempty"` // 0 means 1
}

// MarshalJSON writes the description and the size of the images.
func (m *scatteringMap) MarshalJSON() ([]byte, error) {
	f := scatteringFile{Scattering: m.config, Height: m.height, Width: m.width}
	if m.colours != 1 {
		f.Colours = m.colours
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads a map that MarshalJSON wrote. Errors: [ErrFormat], [*param.Error].
func (m *scatteringMap) UnmarshalJSON(data []byte) error {
	var f scatteringFile
	if err := param.Decode(data, &f); err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if f.Height < 1 || f.Width < 1 || f.Height > 1<<15 || f.Width > 1<<15 {
		return fmt.Errorf("%w: images of %d×%d pixels, want sides from 1 to 32768", ErrFormat, f.Height,
			f.Width)
	}
	if f.Colours < 0 || f.Colours > mostColours {
		return fmt.Errorf("%w: images of %d colours, want up to %d", ErrFormat, f.Colours, mostColours)
	}
	read, err := f.Scattering.new(Layout{In: f.Height * f.Width * max(f.Colours, 1), Height: f.Height,
		Width: f.Width})
	if err != nil {
		return err
	}
	*m = *read
	return nil
}

// These constants describe the wavelets of the finest scale, which are Morlet wavelets with
// circular envelopes. The coarser scale uses the same wavelets at half the resolution.
const (
	waveSigma = 0.8
	waveFreq  = 3 * math.Pi / 4
	waveReach = 3 // pixels; the bell is cut off there
	waveTaps  = 2*waveReach + 1
)

// A scatterer computes the features of a few images at a time, with convolutions of one core. It
// serves one caller at a time.
//
// Guarantee: the features of an image depend on that image only; see [device.Convolver].
type scatterer struct {
	m            *scatteringMap
	be           device.Backend
	fine, coarse device.Window // over images, and over sources at half their resolution
	weights      device.Matrix // real and imaginary parts of every wavelet, in turn
	planes       device.Matrix // images of one colour
	sources      device.Matrix // of every image: itself, and its moduli, all at half resolution
	first        device.Matrix // images convolved with wavelets
	second       device.Matrix // some sources convolved with wavelets
}

// A scatterer holds at most mostImages images. Convolutions of several images have at most
// mostConvolved numbers. At most mostTurned wavelets are convolved at a time.
const mostImages, mostConvolved, mostTurned = 8, 1 << 20, 16

func newScatterer(m *scatteringMap, rows int) *scatterer {
	be, l := device.CPUWith(1), m.config.Orientations
	window := func(h, w int) device.Window {
		return device.Window{Image: device.Image{Height: h, Width: w, Channels: 1}, Size: waveTaps,
			Stride: 1, Pad: waveReach}
	}
	fine, coarse := window(m.height, m.width), window(half(m.height), half(m.width))
	turned := 2 * min(l, mostTurned)
	n := max(min(rows, mostImages, mostConvolved/(turned*fine.Len())), 1)
	sources := max(min(n*(1+l), mostConvolved/(turned*coarse.Len())), 1)
	return &scatterer{m: m, be: be, fine: fine, coarse: coarse, weights: wavelets(be, l),
		planes: be.New(n, fine.Len()), sources: be.New(n*(1+l), coarse.Len()),
		first: be.New(n*fine.Places(), turned), second: be.New(sources*coarse.Places(), turned)}
}

// wavelets returns the taps of the wavelets. A wavelet is a bell times a complex wave. A multiple
// of the bell is subtracted so that the mean is 0.
func wavelets(be device.Backend, orientations int) device.Matrix {
	w := be.New(waveTaps*waveTaps, 2*orientations)
	for o := range orientations {
		sin, cos := math.Sincos(math.Pi * float64(o) / float64(orientations))
		wave := func(at int) (re, im float64) {
			y, x := float64(at/waveTaps-waveReach), float64(at%waveTaps-waveReach)
			im, re = math.Sincos(waveFreq * (cos*x + sin*y))
			return re, im
		}
		var mean float64
		for at, b := range bells {
			re, _ := wave(at)
			mean += b * re
		}
		for at, b := range bells {
			re, im := wave(at)
			w.Row(at)[2*o], w.Row(at)[2*o+1] = float32(b*(re-mean)), float32(b*im)
		}
	}
	return w
}

// bells holds the taps of a circular bell, whose sum is 1.
var bells = func() (taps [waveTaps * waveTaps]float64) {
	along := bell(waveSigma)
	var sum float64
	for _, v := range along {
		sum += v
	}
	for at := range taps {
		taps[at] = along[at/waveTaps] * along[at%waveTaps] / (sum * sum)
	}
	return taps
}()

// transform writes the features of images.
func (s *scatterer) transform(x, dst device.Matrix) {
	for lo := 0; lo < x.Rows; lo += s.planes.Rows {
		hi := min(lo+s.planes.Rows, x.Rows)
		for c := range s.m.colours {
			at := c * s.m.plane()
			s.colour(x.RowRange(lo, hi), c, dst.Slice(lo, hi, at, at+s.m.plane()))
		}
	}
	cells := half(half(s.m.height)) * half(half(s.m.width))
	for i := range x.Rows {
		normalise(dst.Row(i), cells*s.m.config.Group)
		toUnit(dst.Row(i))
	}
}

// colour writes the channels of one colour of a few images.
func (s *scatterer) colour(x device.Matrix, colour int, dst device.Matrix) {
	n, l, h, w := x.Rows, s.m.config.Orientations, s.m.height, s.m.width
	planes, sources := s.planes.RowRange(0, n), s.sources.RowRange(0, n*(1+l))
	for i := range n {
		plane, image := planes.Row(i), x.Row(i)
		for p := range plane {
			plane[p] = image[p*s.m.colours+colour]
		}
	}
	for i := range n {
		pool(sources.Row(i*(1+l)), planes.Row(i), h, w)
	}
	s.convolve(s.fine, planes, s.first, func(i, o int, waves device.Matrix) {
		at := i*(1+l) + 1 + o
		poolModuli(sources.RowRange(at, at+waves.Cols/2), waves, h, w)
	})
	h, w = half(h), half(w)
	cells, most := half(h)*half(w), s.second.Rows/s.coarse.Places()
	channels := func(row, lo, hi int) device.Matrix { // of the image to which a source belongs
		own := dst.Row(row / (1 + l))[lo*cells : hi*cells]
		return device.HostMatrix(hi-lo, cells, own)
	}
	for lo := 0; lo < sources.Rows; lo += most {
		some := sources.RowRange(lo, min(lo+most, sources.Rows))
		for i := range some.Rows {
			source := (lo + i) % (1 + l)
			pool(channels(lo+i, source, source+1).Row(0), some.Row(i), h, w)
		}
		s.convolve(s.coarse, some, s.second, func(i, o int, waves device.Matrix) {
			at := 1 + l + (lo+i)%(1+l)*l + o
			poolModuli(channels(lo+i, at, at+waves.Cols/2), waves, h, w)
		})
	}
}

// convolve convolves images with a few wavelets at a time, in dst. It calls use for every image i,
// with the results of the wavelets from o on.
func (s *scatterer) convolve(w device.Window, images, dst device.Matrix,
	use func(i, o int, waves device.Matrix)) {
	rows, places := images.Rows*w.Places(), w.Places()
	for o := 0; o < s.weights.Cols/2; o += mostTurned {
		weights := s.weights.Slice(0, s.weights.Rows, 2*o, min(2*o+2*mostTurned, s.weights.Cols))
		waves := dst.Slice(0, rows, 0, weights.Cols)
		if c, ok := s.be.(device.Convolver); !ok || !c.Convolve(w, false, images, weights, waves) {
			patches := s.be.New(rows, w.Patch())
			s.be.Im2Col(w, patches, images)
			s.be.Gemm(false, false, 1, patches, weights, 0, waves)
		}
		for i := range images.Rows {
			use(i, o, waves.RowRange(i*places, (i+1)*places))
		}
	}
}

// pool averages cells of 2×2 pixels. Values outside the image are 0.
func pool(dst, src []float32, h, w int) {
	clear(dst)
	for y := range h {
		for x := range w {
			dst[y/2*half(w)+x/2] += src[y*w+x] / 4
		}
	}
}

// poolModuli averages the moduli of a convolved image over cells of 2×2 pixels. The row o of dst is
// of wavelet o.
func poolModuli(dst, waves device.Matrix, h, w int) {
	for o := range dst.Rows {
		clear(dst.Row(o))
	}
	for p := range h * w {
		row, cell := waves.Row(p), p/w/2*half(w)+p%w/2
		for o := range dst.Rows {
			re, im := row[2*o], row[2*o+1]
			dst.Data[o*dst.Stride+cell] += float32(math.Sqrt(float64(re*re+im*im))) / 4
		}
	}
}

// leastSpread is the largest variance of a group that counts as constant.
const leastSpread = 1e-9

// normalise scales every group of numbers to mean 0 and variance 1. Constant groups become zero.
func normalise(row []float32, group int) {
	for lo := 0; lo < len(row); lo += group {
		part := row[lo:min(lo+group, len(row))]
		var mean, square float64
		for _, v := range part {
			mean += float64(v)
		}
		mean /= float64(len(part))
		for _, v := range part {
			square += (float64(v) - mean) * (float64(v) - mean)
		}
		square /= float64(len(part))
		if !(square > leastSpread && square < math.MaxFloat64) {
			clear(part)
			continue
		}
		f := 1 / math.Sqrt(square)
		for i, v := range part {
			part[i] = float32((float64(v) - mean) * f)
		}
	}
}
