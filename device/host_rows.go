package device

import "math"

// The methods of cpu in this file are for operations on host memory, record by record. Packages
// find them by an interface. Operands of one call have equal lengths, and rows have no gaps.

// AddMultiple adds alpha times x to y.
func (c *cpu) AddMultiple(alpha float32, x, y []float32) { c.kernels.axpy(alpha, x, y) }

// Raise makes y the larger of x and y, or NaN if one of them is.
func (c *cpu) Raise(y, x []float32) { c.kernels.larger(y, y, x) }

// GiveEqual moves d to dx where x equals y: dx grows by d, which becomes zero.
func (c *cpu) GiveEqual(dx, d, x, y []float32) { c.kernels.giveEqual(dx, d, x, y) }

// SoftmaxGradient turns rows of width derivatives with respect to p, the result of Softmax, into
// those with respect to its operand: p ∘ (d − Σ p d).
func (c *cpu) SoftmaxGradient(width int, p, d []float32) { c.kernels.softmaxGradient(width, p, d) }

// Standardize scales rows of the given width to mean 0 and variance 1, to which it first adds eps.
// Without centre it only scales them, to square 1.
func (c *cpu) Standardize(width int, centre bool, eps float64, dst, src []float32) {
	c.kernels.standardize(moments{width, centre, eps}, dst, src)
}

// StandardizeGradient adds to dx the derivatives with respect to src, where dy are those with
// respect to y, the result of Standardize.
func (c *cpu) StandardizeGradient(width int, centre bool, eps float64, dx, dy, y, src []float32) {
	c.kernels.standardizeGradient(moments{width, centre, eps}, dx, dy, y, src)
}

// moments says what Standardize subtracts from rows and divides them by.
type moments struct {
	width  int
	centre bool
	eps    float64
}

// shares returns the factors of a row's sums in its mean square and in its mean.
func (m moments) shares() (inverse, centre float64) {
	inverse = 1 / float64(m.width)
	if m.centre {
		centre = inverse
	}
	return inverse, centre
}

func (m moments) of(x []float32) (mean, scale float64) {
	inverse, centre := m.shares()
	total, square := laneSums(x, x)
	mean = total * centre
	variance := float64(square*inverse) - float64(mean*mean)
	return mean, 1 / math.Sqrt(max(variance, 0)+m.eps)
}

func standardizeGeneric(m moments, dst, src []float32) {
	for ; len(src) > 0; dst, src = dst[m.width:], src[m.width:] {
		mean, scale := m.of(src[:m.width])
		for i, v := range src[:m.width] {
			dst[i] = float32((float64(v) - mean) * scale)
		}
	}
}

// standardizeGradientGeneric: dx = (dy − mean dy − y·mean(y·dy))·scale, without the first mean if
// rows are not centred.
func standardizeGradientGeneric(m moments, dx, dy, y, src []float32) {
	inverse, centre := m.shares()
	for lo := 0; lo < len(src); lo += m.width {
		_, scale := m.of(src[lo : lo+m.width])
		in, out, to := dy[lo:lo+m.width], y[lo:lo+m.width], dx[lo:lo+m.width]
		mean, dot := laneSums(in, out)
		mean, dot = mean*centre*scale, dot*inverse*scale
		for i, v := range in {
			to[i] += float32(float64(float64(v)*scale) - mean - float64(float64(out[i])*dot))
		}
	}
}

func softmaxGradientGeneric(width int, p, d []float32) {
	for ; len(p) > 0; p, d = p[width:], d[width:] {
		_, sum := laneSums(p[:width], d[:width])
		dot := float32(sum)
		for i, v := range p[:width] {
			d[i] = v * (d[i] - dot)
		}
	}
}

// laneSums returns Σx and Σxy, in the order of the kernels for vectors of eight: number i is added
// to chain i mod 8.
func laneSums(x, y []float32) (total, dot float64) {
	var totals, dots [8]float64
	for i, v := range x {
		totals[i&7] += float64(v)
		dots[i&7] += float64(float64(v) * float64(y[i])) // exact: 48 bits
	}
	return addLanes(&totals), addLanes(&dots)
}

func addLanes(s *[8]float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// largerGeneric and giveEqualGeneric choose between bits, which compiles to instructions without a
// branch.
func largerGeneric(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, v := range b {
		bits, other := math.Float32bits(a[i]), math.Float32bits(v)
		if v > a[i] {
			bits = other
		}
		if v != v {
			bits = other
		}
		dst[i] = math.Float32frombits(bits)
	}
}

func giveEqualGeneric(dx, d, x, y []float32) {
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
