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
// normalisation). The whole row is then normalised to norm 1, or to 0 for an image of only one
// level. So a private sum of rows has sensitivity 1. A row depends on its image only.
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
	parallel(be, b.Rows, 1500*m.In(), func(lo, hi int) {
		s := newScatterer(m)
		for i := lo; i < hi; i++ {
			s.features(x.Row(i), out.Row(i))
		}
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
	waveReach = 3
	waveTaps  = 2*waveReach + 1
)

// wave is one wavelet. It is a bell times a complex wave, which is the product of a factor along
// rows and a factor along columns. A multiple of the bell is subtracted so that the mean is 0.
type wave struct {
	rowRe, rowIm, colRe, colIm [waveTaps]float64
	bell                       float64
}

// scatterer is one worker's scratch memory. Records with values that are not finite give rows of
// zeros.
type scatterer struct {
	m         *scatteringMap
	waves     []wave
	bell      [waveTaps]float64
	re, im    []float64   // image convolved along rows
	low, work []float64   // smoothed by the bell
	image     []float64   // at full resolution
	coarse    []float64   // at half resolution
	first     [][]float64 // moduli of the finest scale, at half resolution
	modulus   []float64
}

func newScatterer(m *scatteringMap) *scatterer {
	n, h := m.height*m.width, half(m.height)*half(m.width)
	s := &scatterer{m: m, re: make([]float64, n), im: make([]float64, n), low: make([]float64, n),
		work: make([]float64, n), image: make([]float64, n), coarse: make([]float64, h),
		modulus: make([]float64, n)}
	var sum float64
	for k := range s.bell {
		t := float64(k - waveReach)
		s.bell[k] = math.Exp(-t * t / (2 * waveSigma * waveSigma))
		sum += s.bell[k]
	}
	for k := range s.bell {
		s.bell[k] /= sum
	}
	for o := range m.config.Orientations {
		s.waves = append(s.waves, s.wave(math.Pi*float64(o)/float64(m.config.Orientations)))
		s.first = append(s.first, make([]float64, h))
	}
	return s
}

func (s *scatterer) wave(angle float64) (w wave) {
	sin, cos := math.Sincos(angle)
	var row, col complex128
	for k, g := range s.bell {
		t := float64(k - waveReach)
		w.rowIm[k], w.rowRe[k] = math.Sincos(waveFreq * cos * t)
		w.colIm[k], w.colRe[k] = math.Sincos(waveFreq * sin * t)
		w.rowRe[k], w.rowIm[k] = g*w.rowRe[k], g*w.rowIm[k]
		w.colRe[k], w.colIm[k] = g*w.colRe[k], g*w.colIm[k]
		row, col = row+complex(w.rowRe[k], w.rowIm[k]), col+complex(w.colRe[k], w.colIm[k])
	}
	w.bell = real(row * col) // the bell has sum 1, and the wave's real part is even
	return w
}

// features writes the row of one image, scaled to norm 1.
func (s *scatterer) features(x, out []float32) {
	n, plane := s.m.colours, s.m.plane()
	for c := range n {
		for i := range s.image {
			s.image[i] = float64(x[i*n+c])
		}
		s.colour(out[c*plane : (c+1)*plane])
	}
	cells := half(half(s.m.height)) * half(half(s.m.width))
	normalise(out, cells*s.m.config.Group)
	toUnit(out)
}

// colour writes the channels of one colour, which s.image holds.
func (s *scatterer) colour(out []float32) {
	h, w := s.m.height, s.m.width
	pool(s.coarse, s.image, h, w)
	ch, cw := half(h), half(w)
	cells := half(ch) * half(cw)
	at := 0
	write := func(src []float64) {
		poolInto(out[at:at+cells], src, ch, cw)
		at += cells
	}
	write(s.coarse)
	s.smooth(s.image, h, w)
	for o := range s.waves {
		s.convolve(s.image, h, w, &s.waves[o])
		pool(s.first[o], s.modulus, h, w)
		write(s.first[o])
	}
	for _, src := range append([][]float64{s.coarse}, s.first...) {
		s.smooth(src, ch, cw)
		for o := range s.waves {
			s.convolve(src, ch, cw, &s.waves[o])
			write(s.modulus)
		}
	}
}

// smooth sets low to the image convolved with the bell. Values outside the image are 0.
func (s *scatterer) smooth(src []float64, h, w int) {
	for y := range h {
		for x := range w {
			var sum float64
			for k := max(-waveReach, -x); k <= min(waveReach, w-1-x); k++ {
				sum += s.bell[k+waveReach] * src[y*w+x+k]
			}
			s.work[y*w+x] = sum
		}
	}
	columns(s.low[:h*w], s.work, &s.bell, h, w)
}

// convolve sets modulus to the modulus of the image convolved with a wavelet. Before the call, low
// must hold the smoothed image.
func (s *scatterer) convolve(src []float64, h, w int, v *wave) {
	for y := range h {
		row := src[y*w : (y+1)*w]
		for x := range w {
			var re, im float64
			for k := max(-waveReach, -x); k <= min(waveReach, w-1-x); k++ {
				p := row[x+k]
				re += v.rowRe[k+waveReach] * p
				im += v.rowIm[k+waveReach] * p
			}
			s.re[y*w+x], s.im[y*w+x] = re, im
		}
	}
	for y := range h {
		lo, hi := max(-waveReach, -y), min(waveReach, h-1-y)
		for x := range w {
			at := y*w + x
			re, im := -v.bell*s.low[at], 0.0
			for k := lo; k <= hi; k++ {
				a, b := s.re[at+k*w], s.im[at+k*w]
				c, d := v.colRe[k+waveReach], v.colIm[k+waveReach]
				re += a*c - b*d
				im += a*d + b*c
			}
			s.modulus[at] = math.Sqrt(re*re + im*im)
		}
	}
}

func columns(dst, src []float64, taps *[waveTaps]float64, h, w int) {
	for y := range h {
		lo, hi := max(-waveReach, -y), min(waveReach, h-1-y)
		for x := range w {
			var sum float64
			for k := lo; k <= hi; k++ {
				sum += taps[k+waveReach] * src[(y+k)*w+x]
			}
			dst[y*w+x] = sum
		}
	}
}

// pool averages cells of 2×2 pixels. Values outside the image are 0.
func pool(dst, src []float64, h, w int) {
	ch, cw := half(h), half(w)
	clear(dst[:ch*cw])
	for y := range h {
		for x := range w {
			dst[y/2*cw+x/2] += src[y*w+x] / 4
		}
	}
}

func poolInto(dst []float32, src []float64, h, w int) {
	ch, cw := half(h), half(w)
	for cy := range ch {
		for cx := range cw {
			var sum float64
			for y := 2 * cy; y < min(2*cy+2, h); y++ {
				for x := 2 * cx; x < min(2*cx+2, w); x++ {
					sum += src[y*w+x]
				}
			}
			dst[cy*cw+cx] = float32(sum / 4)
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
