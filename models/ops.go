package models

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// host has kernels for slices of host memory.
var host = device.CPUWith(1).(interface {
	device.Backend
	NormalizeGroups(wide int, eps float64, dst, src, stats, gain, shift device.Matrix)
	NormalizeGroupsGradient(wide int, dst, delta, src, stats, gain, dGain, dShift device.Matrix)
	AddMultiple(alpha float32, x, y []float32)
	Raise(y, x []float32)
	GiveEqual(dx, d, x, y []float32)
	SoftmaxGradient(p, d device.Matrix)
	Standardize(width int, centre, eps float64, dst, src []float32)
	StandardizeGradient(width int, centre, eps float64, dx, dy, y, src []float32)
})

// pool takes the mean, or the largest number, of each channel at every place of a window.
type pool struct {
	window device.Window
	most   bool
}

func (p pool) Out(...int) int { return p.window.Places() * p.window.Channels }

// visit calls f for every pixel of the window at every place, row by row of places, with the first
// numbers of both. If the window moves by one pixel, f gets the pixels of many places, which are
// next to each other, at a time.
func (p pool) visit(f func(place, pixel, n int)) {
	w := p.window
	down, across := w.Grid()
	run := 1
	if w.Stride == 1 {
		run = across
	}
	for i := range down {
		top := i*w.Stride - w.Pad
		for r := max(top, 0); r < min(top+w.Size, w.Height); r++ {
			for q := -w.Pad; q < w.Size-w.Pad; q++ {
				x, end := max(0, w.Stride-1-q)/w.Stride, min(across, (w.Width-1-q+w.Stride)/w.Stride)
				for ; x < end; x += run {
					pixel := r*w.Width + x*w.Stride + q
					f((i*across+x)*w.Channels, pixel*w.Channels, min(run, end-x)*w.Channels)
				}
			}
		}
	}
}

func (p pool) share() float32 { return 1 / float32(p.window.Size*p.window.Size) }

func (p pool) Forward(y []float32, _ uint64, x ...[]float32) {
	if !p.most {
		p.visit(func(i, j, n int) { host.AddMultiple(p.share(), x[0][j:j+n], y[i:i+n]) })
		return
	}
	for i := range y {
		y[i] = float32(math.Inf(-1))
	}
	p.visit(func(i, j, n int) { host.Raise(y[i:i+n], x[0][j:j+n]) })
}

// Backward gives the derivative of a largest number to the first number that equals it.
func (p pool) Backward(dx [][]float32, dy, y []float32, _ uint64, x ...[]float32) {
	if !p.most {
		p.visit(func(i, j, n int) { host.AddMultiple(p.share(), dy[i:i+n], dx[0][j:j+n]) })
		return
	}
	left := slices.Clone(dy) // what is not given yet
	p.visit(func(i, j, n int) {
		host.GiveEqual(dx[0][j:j+n], left[i:i+n], x[0][j:j+n], y[i:i+n])
	})
}

// scaling divides every width numbers of a record by their standard deviation, after it has
// subtracted their mean, or by their root mean square.
type scaling struct {
	width  int
	centre float64 // 1, or 0 for root mean squares
}

// scalingEps is added to variances.
const scalingEps = 1e-5

func (s scaling) Out(widths ...int) int { return widths[0] }

func (s scaling) Forward(y []float32, _ uint64, x ...[]float32) {
	host.Standardize(s.width, s.centre, scalingEps, y, x[0])
}

func (s scaling) Backward(dx [][]float32, dy, y []float32, _ uint64, x ...[]float32) {
	host.StandardizeGradient(s.width, s.centre, scalingEps, dx[0], dy, y, x[0])
}

// dropout sets numbers to zero with probability p and divides the others by 1−p. The choice depends
// on the record's key. Predictions drop nothing.
type dropout struct{ p float64 }

func (d dropout) Out(widths ...int) int { return widths[0] }

func (d dropout) visit(key uint64, n int, f func(i int, keep float32)) {
	s, most := stream{key}, uint64(d.p*(1<<53))
	for i := range n {
		if s.next()>>11 >= most {
			f(i, float32(1/(1-d.p)))
		}
	}
}

func (d dropout) Forward(y []float32, key uint64, x ...[]float32) {
	d.visit(key, len(y), func(i int, keep float32) { y[i] = keep * x[0][i] })
}

func (d dropout) Backward(dx [][]float32, dy, _ []float32, key uint64, _ ...[]float32) {
	d.visit(key, len(dy), func(i int, keep float32) { dx[0][i] += keep * dy[i] })
}
