package device

import (
	"math"
	"unsafe"
)

// The methods of cpu in this file are for operations on host memory, record by record. Packages
// find them by an interface. Operands of one call have equal lengths, and rows have no gaps.

// AddMultiple adds alpha times x to y.
func (c *cpu) AddMultiple(alpha float32, x, y []float32) { c.kernels.axpy(alpha, x, y) }

// Raise makes y the larger of x and y, or NaN if one of them is.
func (c *cpu) Raise(y, x []float32) { c.kernels.larger(len(y), first(y), first(y), first(x)) }

// GiveEqual moves d to dx where x equals y: dx grows by d, which becomes zero.
func (c *cpu) GiveEqual(dx, d, x, y []float32) {
	c.kernels.giveEqual(len(d), first(dx), first(d), first(x), first(y))
}

// SoftmaxGradient turns rows d of derivatives with respect to p, the result of Softmax, into those
// with respect to its operand: p ∘ (d − Σ p d). Rows may have gaps.
func (c *cpu) SoftmaxGradient(p, d Matrix) {
	for i, together := 0, 1; i < p.Rows && p.Cols > 0; i += together {
		if p.Stride == d.Stride {
			together = p.Rows
		}
		c.kernels.softmaxGradient(together, p.Cols, &p.Row(i)[0], &d.Row(i)[0], 4*p.Stride)
	}
}

// Standardize scales rows of the given width to mean 0 and variance 1, to which it first adds eps.
// If centre is 0 and not 1, it only scales them, to square 1.
func (c *cpu) Standardize(width int, centre, eps float64, dst, src []float32) {
	if n := float64(width); len(src) > 0 {
		c.kernels.standardize(len(src)/width, width, 1/n, centre/n, eps, &src[0], &dst[0])
	}
}

// StandardizeGradient adds to dx the derivatives with respect to src, where dy are those with
// respect to y, the result of Standardize.
func (c *cpu) StandardizeGradient(width int, centre, eps float64, dx, dy, y, src []float32) {
	if n := float64(width); len(src) > 0 {
		c.kernels.standardizeGradient(len(src)/width, width, 1/n, centre/n, eps, &src[0], &y[0], &dy[0],
			&dx[0])
	}
}

// deviation returns the mean of x, times n·centre, and what divides x by its standard deviation.
func deviation(x []float32, inverse, centre, eps float64) (mean, scale float64) {
	total, square := laneSums(x, x)
	mean = total * centre
	variance := float64(square*inverse) - float64(mean*mean)
	return mean, 1 / math.Sqrt(max(variance, 0)+eps)
}

func standardizeGeneric(rows, n int, inverse, centre, eps float64, src, dst *float32) {
	in, out := unsafe.Slice(src, rows*n), unsafe.Slice(dst, rows*n)
	for ; len(in) > 0; in, out = in[n:], out[n:] {
		mean, scale := deviation(in[:n], inverse, centre, eps)
		for i, v := range in[:n] {
			out[i] = float32((float64(v) - mean) * scale)
		}
	}
}

// standardizeGradientGeneric: dx = (dy − mean dy − y·mean(y·dy))·scale, without the first mean if
// rows are not centred.
func standardizeGradientGeneric(rows, n int, inverse, centre, eps float64, src, y, dy,
	dx *float32) {
	x, out := unsafe.Slice(src, rows*n), unsafe.Slice(y, rows*n)
	d, to := unsafe.Slice(dy, rows*n), unsafe.Slice(dx, rows*n)
	for ; len(x) > 0; x, out, d, to = x[n:], out[n:], d[n:], to[n:] {
		_, scale := deviation(x[:n], inverse, centre, eps)
		mean, dot := laneSums(d[:n], out)
		mean, dot = float64(mean*centre*scale), float64(dot*inverse*scale)
		for i, v := range d[:n] {
			to[i] += float32(float64(float64(v)*scale) - mean - float64(float64(out[i])*dot))
		}
	}
}

func softmaxGradientGeneric(rows, n int, p, d *float32, stride int) {
	all := (rows-1)*stride/4 + n
	from, grad := unsafe.Slice(p, all), unsafe.Slice(d, all)
	for i := range rows {
		x, to := from[i*stride/4:][:n], grad[i*stride/4:][:n]
		_, dot := laneSums(x, to)
		for k, v := range x {
			to[k] = v * (to[k] - float32(dot))
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
func largerGeneric(n int, dst, a, b *float32) {
	x, to := unsafe.Slice(a, n), unsafe.Slice(dst, n)
	for i, v := range unsafe.Slice(b, n) {
		bits, other := math.Float32bits(x[i]), math.Float32bits(v)
		if v > x[i] || v != v {
			bits = other
		}
		to[i] = math.Float32frombits(bits)
	}
}

func giveEqualGeneric(n int, dx, d, x, y *float32) {
	to, left, most := unsafe.Slice(dx, n), unsafe.Slice(d, n), unsafe.Slice(y, n)
	for i, v := range unsafe.Slice(x, n) {
		bits := math.Float32bits(left[i])
		given := bits
		if v != most[i] {
			given = 0
		}
		to[i] += math.Float32frombits(given)
		left[i] = math.Float32frombits(bits ^ given)
	}
}
