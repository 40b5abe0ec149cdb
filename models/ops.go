package models

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// pool takes the mean, or the largest number, of each channel at every place of a window.
type pool struct {
	window device.Window
	most   bool
}

func (p pool) Out(...int) int { return p.window.Places() * p.window.Channels }

// visit calls f for every number y of the result and every number x of its window.
func (p pool) visit(f func(y, x, size int)) {
	w := p.window
	_, across := w.Grid()
	for y := range p.Out() {
		place, c := y/w.Channels, y%w.Channels
		top, left := place/across*w.Stride-w.Pad, place%across*w.Stride-w.Pad
		for r := max(top, 0); r < min(top+w.Size, w.Height); r++ {
			for q := max(left, 0); q < min(left+w.Size, w.Width); q++ {
				f(y, (r*w.Width+q)*w.Channels+c, w.Size*w.Size)
			}
		}
	}
}

func (p pool) Forward(y []float32, _ uint64, x ...[]float32) {
	if p.most {
		for i := range y {
			y[i] = float32(math.Inf(-1))
		}
	}
	p.visit(func(i, j, size int) {
		if v := x[0][j]; !p.most {
			y[i] += v / float32(size)
		} else if v > y[i] || v != v {
			y[i] = v
		}
	})
}

// Backward gives the derivative of a largest number to the first number that equals it.
func (p pool) Backward(dx [][]float32, dy, y []float32, _ uint64, x ...[]float32) {
	given := -1 // results come in order
	p.visit(func(i, j, size int) {
		if !p.most {
			dx[0][j] += dy[i] / float32(size)
		} else if i != given && x[0][j] == y[i] {
			given = i
			dx[0][j] += dy[i]
		}
	})
}

// scaling divides groups of numbers of a record by their standard deviation, after it has
// subtracted their mean, or by their root mean square. A group has width consecutive numbers, or
// these numbers of every one of the places.
type scaling struct {
	places, width int // places of a group, and its numbers at each
	apart         int // numbers from one place to the next
	square        bool
}

// scalingEps is added to variances.
const scalingEps = 1e-5

func (s scaling) Out(widths ...int) int { return widths[0] }

// groups calls f with the first number of every group of n numbers.
func (s scaling) groups(n int, f func(lo int)) {
	step := s.apart
	if s.places == 1 {
		step = n
	}
	for lo := 0; lo < step; lo += s.width {
		f(lo)
	}
}

// visit calls f for the numbers of a group.
func (s scaling) visit(lo int, f func(i int)) {
	for p := range s.places {
		for i := range s.width {
			f(lo + p*s.apart + i)
		}
	}
}

// moments returns what is subtracted from a group, and what it is then multiplied by.
func (s scaling) moments(x []float32, lo int) (mean, scale float64) {
	n, sum := float64(s.places*s.width), 0.0
	if !s.square {
		s.visit(lo, func(i int) { mean += float64(x[i]) / n })
	}
	s.visit(lo, func(i int) { sum += (float64(x[i]) - mean) * (float64(x[i]) - mean) })
	return mean, 1 / math.Sqrt(sum/n+scalingEps)
}

func (s scaling) Forward(y []float32, _ uint64, x ...[]float32) {
	s.groups(len(y), func(lo int) {
		mean, scale := s.moments(x[0], lo)
		s.visit(lo, func(i int) { y[i] = float32((float64(x[0][i]) - mean) * scale) })
	})
}

// Backward: dx = (dy − mean dy − y·mean(y·dy))·scale, without the first mean for root mean squares.
func (s scaling) Backward(dx [][]float32, dy, y []float32, _ uint64, x ...[]float32) {
	n := float64(s.places * s.width)
	s.groups(len(y), func(lo int) {
		_, scale := s.moments(x[0], lo)
		mean, dot := 0.0, 0.0
		s.visit(lo, func(i int) {
			dot += float64(y[i]) * float64(dy[i]) / n
			if !s.square {
				mean += float64(dy[i]) / n
			}
		})
		s.visit(lo, func(i int) {
			dx[0][i] += float32((float64(dy[i]) - mean - float64(y[i])*dot) * scale)
		})
	})
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
