package device

import "unsafe"

func first(s []float32) *float32 { return unsafe.SliceData(s) }

// kernels is one implementation of the inner loops. Operands of one call have equal lengths,
// possibly zero. A destination may be the same slice as an operand; it must not overlap an operand
// in any other way.
type kernels struct {
	name string

	apply    [funcs]func(dst, src []float32)
	gradient [funcs]func(delta, out []float32)
	axpy     func(alpha float32, x, y []float32)
	scale    func(alpha float32, x []float32)
	// clamp and threshold implement Clamp and Threshold.
	clamp     func(dst, src []float32, lo, hi float32)
	threshold func(dst, src []float32, t float32)
	mul, sub  func(dst, a, b []float32)
	dot       func(a, b []float32) float64
	// The next five implement methods in host_rows.go.
	larger              func(n int, dst, a, b *float32)
	giveEqual           func(n int, dx, d, x, y *float32)
	softmaxGradient     func(rows, n int, p, d *float32, stride int)
	standardize         func(rows, n int, inverse, centre, eps float64, src, dst *float32)
	standardizeGradient func(rows, n int, inverse, centre, eps float64, src, y, dy, dx *float32)
	// softmax replaces rows with their softmax. It is nil if the level has no such kernel.
	softmax func(rows, n int, x *float32, stride int)
	// squaresOfTwo returns dot(a, a) and dot(b, b), with the same bits. It is nil if the level has no
	// kernel that is faster than dot.
	squaresOfTwo func(a, b []float32) (x, y float64)
	cosSin       func(cos, sin, src []float32, scale float32)
	// adam makes a step of Adam for the gradient scale·g.
	adam func(p, g, m, v []float32, r *adamRates, scale float32)
	// adamOfSum makes a step of Adam for the gradient float32(scale·g).
	adamOfSum func(p []float32, g []float64, m, v []float32, r *adamRates, scale float64)
	// gather adds the rows of w that items lists to dst. Rows are stride numbers apart.
	gather func(dst, w []float32, stride int, items []uint32)
	// scatter adds src to the rows of c that items lists.
	scatter func(c []float32, stride int, items []uint32, src []float32)
	// units adds w·x to total, rounded to the nearest whole units; see FixedSummer.
	units func(w, origin float32, x []float32, total []int32)
	// addUnits adds from to total.
	addUnits func(total, from []int32)
	// scaleOdd sets dst to w·src, with every number made odd.
	scaleOdd func(w float32, dst, src []float32)

	// raise8 and raise1 sum up pixels of images. between doubles images, and apart is the transpose of
	// between. All four are nil if the level has no such kernels.
	raise8, raise1 raiseKernel
	between        func(n int, a, b *float32, step int, dst *float32, stepDst int)
	apart          func(n int, a, b, c, d *float32, step int, dst *float32, stepDst int)
	// lift copies inner pieces of vecs·8 numbers for each of outer steps in src. It writes them in
	// order, stepDst bytes apart; pieces may overlap. It is nil if the level has no such kernel.
	lift func(outer, inner, vecs int, src *float32, stepOuter, stepInner int, dst *float32,
		stepDst int)
	columns *columnKernels // for batch normalization; nil if there are none

	gemm gemmKernels
	// ahead holds kernels for packed operands that are too large for the second-level cache. It is nil
	// if they would not be faster than gemm.
	ahead *gemmKernels
}

// scaleOrClear multiplies x by β. If β is 0, it clears x, even where x holds NaN.
func (k *kernels) scaleOrClear(beta float32, x []float32) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		k.scale(beta, x)
	}
}
