package device

import "unsafe"

func first(s []float32) *float32 { return unsafe.SliceData(s) }

// kernels is one way to do the inner loops. Operands of one call have equal lengths, possibly zero;
// a destination may be the same slice as an operand but not overlap it otherwise.
type kernels struct {
	name string

	apply    [funcs]func(dst, src []float32)
	gradient [funcs]func(delta, out []float32)
	axpy     func(alpha float32, x, y []float32)
	scale    func(alpha float32, x []float32)
	// clamp and threshold bring what was read into a schema; see Clamp and Threshold.
	clamp     func(dst, src []float32, lo, hi float32)
	threshold func(dst, src []float32, t float32)
	mul, sub  func(dst, a, b []float32)
	dot       func(a, b []float32) float64
	// squaresOfTwo is dot(a, a) and dot(b, b), to the bit; nil where there is nothing faster.
	squaresOfTwo func(a, b []float32) (x, y float64)
	cosSin       func(cos, sin, src []float32, scale float32)
	// adam moves p along scale·g.
	adam func(p, g, m, v []float32, r *adamRates, scale float32)
	// adamOfSum is adam along float32(scale·g).
	adamOfSum func(p []float32, g []float64, m, v []float32, r *adamRates, scale float64)
	// gather adds the named rows of w (stride numbers apart) to dst.
	gather func(dst, w []float32, stride int, items []uint32)
	// scatter adds src to the named rows of c.
	scatter func(c []float32, stride int, items []uint32, src []float32)
	// units adds to total the whole numbers of units that w·x is nearest to; see FixedSummer.
	units func(w, origin float32, x []float32, total []int32)
	// scaleOdd sets dst to w·src, made odd.
	scaleOdd func(w float32, dst, src []float32)

	// raise8 and raise1 sum up pixels of images, between and apart scale images; nil for none.
	raise8, raise1 raiseKernel
	between        func(n int, a, b *float32, step int, dst *float32, stepDst int)
	apart          func(n int, a, b, c, d *float32, step int, dst *float32, stepDst int)
	columns        *columnKernels // of batch norm; nil for none

	gemm gemmKernels
}

// scaleOrClear multiplies x by β, where β = 0 means that the old numbers, NaN included, do not
// matter.
func (k *kernels) scaleOrClear(beta float32, x []float32) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		k.scale(beta, x)
	}
}
