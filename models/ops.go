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

// visit calls f for every place of the window and every pixel that it sees there, in order, with
// the first numbers of both and the number of channels.
func (p pool) visit(f func(place, pixel, channels int)) {
	w := p.window
	down, across := w.Grid()
	for i := range down * across {
		top, left := i/across*w.Stride-w.Pad, i%across*w.Stride-w.Pad
		for r := max(top, 0); r < min(top+w.Size, w.Height); r++ {
			for q := max(left, 0); q < min(left+w.Size, w.Width); q++ {
				f(i*w.Channels, (r*w.Width+q)*w.Channels, w.Channels)
			}
		}
	}
}

func (p pool) share() float32 { return 1 / float32(p.window.Size*p.window.Size) }

func (p pool) Forward(y []float32, _ uint64, x ...[]float32) {
	if !p.most {
		p.visit(func(i, j, n int) { addMultiple(y[i:i+n], x[0][j:j+n], p.share()) })
		return
	}
	for i := range y {
		y[i] = float32(math.Inf(-1))
	}
	p.visit(func(i, j, n int) { raise(y[i:i+n], x[0][j:j+n]) })
}

// Backward gives the derivative of a largest number to the first number that equals it.
func (p pool) Backward(dx [][]float32, dy, y []float32, _ uint64, x ...[]float32) {
	if !p.most {
		p.visit(func(i, j, n int) { addMultiple(dx[0][j:j+n], dy[i:i+n], p.share()) })
		return
	}
	left, at := make([]float32, p.window.Channels), -1 // what is not given yet at a place
	p.visit(func(i, j, n int) {
		if i != at {
			at = i
			copy(left, dy[i:])
		}
		giveEqual(dx[0][j:j+n], left, x[0][j:j+n], y[i:i+n])
	})
}

func addMultiple(y, x []float32, factor float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float32(v * factor)
	}
}

// raise makes y the larger of x and y, or NaN if one of them is. It and giveEqual choose between
// bits, which compiles to instructions without a branch.
func raise(y, x []float32) {
	y = y[:len(x)]
	for i, v := range x {
		bits, other := math.Float32bits(y[i]), math.Float32bits(v)
		if v > y[i] {
			bits = other
		}
		if v != v {
			bits = other
		}
		y[i] = math.Float32frombits(bits)
	}
}

// giveEqual moves d to dx where x equals y.
func giveEqual(dx, d, x, y []float32) {
	dx, d, y = dx[:len(x)], d[:len(x)], y[:len(x)]
	for i, v := range x {
		bits := math.Float32bits(d[i])
		given := bits
		if v != y[i] {
			given = 0
		}
		dx[i] += math.Float32frombits(given)
		d[i] = math.Float32frombits(bits ^ given)
	}
}

// scaling divides every width numbers of a record by their standard deviation, after it has
// subtracted their mean, or by their root mean square.
type scaling struct {
	width  int
	square bool
}

// scalingEps is added to variances.
const scalingEps = 1e-5

func (s scaling) Out(widths ...int) int { return widths[0] }

// sums2 returns Σx and Σxy.
func sums2(x, y []float32) (total, dot float64) {
	var more, dots float64
	for ; len(x) > 1 && len(y) > 1; x, y = x[2:], y[2:] {
		a, b := float64(x[0]), float64(x[1])
		total, more = total+a, more+b
		dot, dots = dot+float64(a*float64(y[0])), dots+float64(b*float64(y[1]))
	}
	if len(x) > 0 {
		total, dot = total+float64(x[0]), dot+float64(float64(x[0])*float64(y[0]))
	}
	return total + more, dot + dots
}

// moments returns what is subtracted from numbers, and what they are then multiplied by.
func (s scaling) moments(x []float32) (mean, scale float64) {
	total, square := sums2(x, x)
	n := float64(len(x))
	if s.square {
		total = 0
	}
	mean = total / n
	return mean, 1 / math.Sqrt(max(square/n-float64(mean*mean), 0)+scalingEps)
}

func (s scaling) Forward(y []float32, _ uint64, x ...[]float32) {
	for lo := 0; lo < len(y); lo += s.width {
		in, out := x[0][lo:lo+s.width], y[lo:lo+s.width]
		mean, scale := s.moments(in)
		for i, v := range in {
			out[i] = float32((float64(v) - mean) * scale)
		}
	}
}

// Backward: dx = (dy − mean dy − y·mean(y·dy))·scale, without the first mean for root mean squares.
func (s scaling) Backward(dx [][]float32, dy, y []float32, _ uint64, x ...[]float32) {
	for lo := 0; lo < len(y); lo += s.width {
		_, scale := s.moments(x[0][lo : lo+s.width])
		in, out, to := dy[lo:lo+s.width], y[lo:lo+s.width], dx[0][lo:lo+s.width]
		mean, dot := sums2(in, out)
		if s.square {
			mean = 0
		}
		mean, dot = mean/float64(s.width)*scale, dot/float64(s.width)*scale
		for i, v := range in {
			to[i] += float32(float64(scale*float64(v)) - mean - float64(dot*float64(out[i])))
		}
	}
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
