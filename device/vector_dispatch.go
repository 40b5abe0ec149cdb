//go:build !purego && (amd64 || arm64)

package device

import "unsafe"

// useVectors replaces the element-wise kernels that all assembly has, AVX2 or NEON.
//
// The data pointer of an empty slice may be passed, because the loops then access no memory.
func useVectors(k *kernels) {
	k.apply = [funcs]func(dst, src []float32){
		Identity:  k.apply[Identity],
		ReLU:      func(dst, src []float32) { reluVector(len(dst), first(dst), first(src)) },
		LeakyReLU: func(dst, src []float32) { leakyVector(len(dst), first(dst), first(src)) },
		Tanh:      func(dst, src []float32) { tanhVector(len(dst), first(dst), first(src)) },
		Sigmoid:   func(dst, src []float32) { sigmoidVector(len(dst), first(dst), first(src)) },
		Softplus:  func(dst, src []float32) { softplusVector(len(dst), first(dst), first(src)) },
		Exp:       func(dst, src []float32) { expVector(len(dst), first(dst), first(src)) },
		Log:       func(dst, src []float32) { logVector(len(dst), first(dst), first(src)) },
	}
	k.gradient = [funcs]func(delta, out []float32){
		Identity:  k.gradient[Identity],
		ReLU:      func(d, y []float32) { reluGradientVector(len(d), first(d), first(y)) },
		LeakyReLU: func(d, y []float32) { leakyGradientVector(len(d), first(d), first(y)) },
		Tanh:      func(d, y []float32) { tanhGradientVector(len(d), first(d), first(y)) },
		Sigmoid:   func(d, y []float32) { sigmoidGradientVector(len(d), first(d), first(y)) },
		Softplus:  func(d, y []float32) { softplusGradientVector(len(d), first(d), first(y)) },
		Exp:       func(d, y []float32) { expGradientVector(len(d), first(d), first(y)) },
		Log:       func(d, y []float32) { logGradientVector(len(d), first(d), first(y)) },
	}
	k.axpy = func(alpha float32, x, y []float32) { axpyVector(len(y), alpha, first(x), first(y)) }
	k.scale = func(alpha float32, x []float32) { scaleVector(len(x), alpha, first(x)) }
	k.clamp = func(dst, src []float32, lo, hi float32) {
		clampVector(len(src), lo, hi, first(dst), first(src))
	}
	k.threshold = func(dst, src []float32, t float32) {
		thresholdVector(len(src), t, first(dst), first(src))
	}
	k.mul = func(dst, a, b []float32) { mulVector(len(dst), first(dst), first(a), first(b)) }
	k.sub = func(dst, a, b []float32) { subVector(len(dst), first(dst), first(a), first(b)) }
	k.larger, k.giveEqual = largerVector, giveEqualVector
	k.adam = func(p, g, m, v []float32, r *adamRates, scale float32) {
		adamVector(len(p), first(p), first(g), first(m), first(v), &r.beta1, scale)
	}
	k.units = func(w, origin float32, x []float32, total []int32) {
		unitsVector(len(x), w, origin, first(x), unsafe.SliceData(total))
	}
	k.addUnits = func(total, from []int32) {
		addUnitsVector(len(from), unsafe.SliceData(total), unsafe.SliceData(from))
	}
	k.scaleOdd = func(w float32, dst, src []float32) {
		scaleOddVector(len(dst), w, first(dst), first(src))
	}
}
