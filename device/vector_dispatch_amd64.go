//go:build !purego

package device

import "unsafe"

// useVectors replaces the element-wise kernels and reductions with AVX2 assembly.
//
// The data pointer of an empty slice may be passed, because the loops then access no memory.
func useVectors(k *kernels) {
	k.apply = [funcs]func(dst, src []float32){
		Identity:  k.apply[Identity],
		ReLU:      func(dst, src []float32) { reluAVX2(len(dst), first(dst), first(src)) },
		LeakyReLU: func(dst, src []float32) { leakyAVX2(len(dst), first(dst), first(src)) },
		Tanh:      func(dst, src []float32) { tanhAVX2(len(dst), first(dst), first(src)) },
		Sigmoid:   func(dst, src []float32) { sigmoidAVX2(len(dst), first(dst), first(src)) },
		Softplus:  func(dst, src []float32) { softplusAVX2(len(dst), first(dst), first(src)) },
		Exp:       func(dst, src []float32) { expAVX2(len(dst), first(dst), first(src)) },
		Log:       func(dst, src []float32) { logAVX2(len(dst), first(dst), first(src)) },
	}
	k.gradient = [funcs]func(delta, out []float32){
		Identity:  k.gradient[Identity],
		ReLU:      func(delta, out []float32) { reluGradientAVX2(len(delta), first(delta), first(out)) },
		LeakyReLU: func(delta, out []float32) { leakyGradientAVX2(len(delta), first(delta), first(out)) },
		Tanh:      func(delta, out []float32) { tanhGradientAVX2(len(delta), first(delta), first(out)) },
		Sigmoid: func(delta, out []float32) {
			sigmoidGradientAVX2(len(delta), first(delta), first(out))
		},
		Softplus: func(delta, out []float32) {
			softplusGradientAVX2(len(delta), first(delta), first(out))
		},
		Exp: func(delta, out []float32) { expGradientAVX2(len(delta), first(delta), first(out)) },
		Log: func(delta, out []float32) { logGradientAVX2(len(delta), first(delta), first(out)) },
	}
	k.raise8, k.raise1, k.between, k.apart = raise8AVX2, raise1AVX2, betweenAVX2, apartAVX2
	k.lift = liftAVX2
	k.columns = &columnKernels{columnSlopesAVX2, normalizeAVX2, normalizeGradientAVX2}
	k.axpy = func(alpha float32, x, y []float32) { axpyAVX2(len(y), alpha, first(x), first(y)) }
	k.scale = func(alpha float32, x []float32) { scaleAVX2(len(x), alpha, first(x)) }
	k.clamp = func(dst, src []float32, lo, hi float32) {
		clampAVX2(len(src), lo, hi, first(dst), first(src))
	}
	k.threshold = func(dst, src []float32, t float32) {
		thresholdAVX2(len(src), t, first(dst), first(src))
	}
	k.mul = func(dst, a, b []float32) { mulAVX2(len(dst), first(dst), first(a), first(b)) }
	k.sub = func(dst, a, b []float32) { subAVX2(len(dst), first(dst), first(a), first(b)) }
	k.larger, k.giveEqual = largerAVX2, giveEqualAVX2
	k.softmax, k.softmaxGradient = softmaxRowsAVX2, softmaxRowsGradientAVX2
	k.standardize, k.standardizeGradient = standardizeAVX2, standardizeGradientAVX2
	k.dot = dotVector
	k.cosSin = func(cos, sin, src []float32, scale float32) {
		cosSinVector(cos, sin, src, scale, false)
	}
	k.adam = func(p, g, m, v []float32, r *adamRates, scale float32) {
		adamAVX2(len(p), first(p), first(g), first(m), first(v), &r.beta1, scale)
	}
	k.adamOfSum = func(p []float32, g []float64, m, v []float32, r *adamRates, scale float64) {
		adamOfSumAVX2(len(p), first(p), unsafe.SliceData(g), first(m), first(v), &r.beta1, scale)
	}
	k.gather = gatherVector
	k.scatter = scatterVector
	k.units = func(w, origin float32, x []float32, total []int32) {
		unitsAVX2(len(x), w, origin, first(x), unsafe.SliceData(total))
	}
	k.addUnits = func(total, from []int32) {
		addUnitsAVX2(len(from), unsafe.SliceData(total), unsafe.SliceData(from))
	}
	k.scaleOdd = func(w float32, dst, src []float32) {
		scaleOddAVX2(len(dst), w, first(dst), first(src))
	}
}

func dotVector(a, b []float32) float64 {
	if first(a) == first(b) {
		return squaresAVX2(len(a), first(a))
	}
	return dotAVX2(len(a), first(a), first(b))
}

func gatherVector(dst, w []float32, stride int, items []uint32) {
	if len(items) > 0 && len(dst) > 0 {
		gatherAVX2(len(dst), &dst[0], &w[0], 4*stride, &items[0], len(items))
	}
}

func scatterVector(c []float32, stride int, items []uint32, src []float32) {
	if len(items) > 0 && len(src) > 0 {
		scatterAVX2(len(src), &c[0], 4*stride, &items[0], len(items), &src[0])
	}
}

// useWideVectors replaces kernels that have long chains of dependent operations with AVX-512
// assembly, whose sixteen lanes hide more of the latency.
func useWideVectors(k *kernels) {
	k.apply[Exp] = func(dst, src []float32) { expAVX512(len(dst), first(dst), first(src)) }
	k.apply[Log] = func(dst, src []float32) { logAVX512(len(dst), first(dst), first(src)) }
	k.apply[Tanh] = func(dst, src []float32) { tanhAVX512(len(dst), first(dst), first(src)) }
	k.apply[Sigmoid] = func(dst, src []float32) { sigmoidAVX512(len(dst), first(dst), first(src)) }
	k.apply[Softplus] = func(dst, src []float32) { softplusAVX512(len(dst), first(dst), first(src)) }
	k.gradient[Softplus] = func(delta, out []float32) {
		softplusGradientAVX512(len(delta), first(delta), first(out))
	}
	k.gradient[Log] = func(delta, out []float32) {
		logGradientAVX512(len(delta), first(delta), first(out))
	}
	k.cosSin = func(cos, sin, src []float32, scale float32) {
		cosSinVector(cos, sin, src, scale, true)
	}
	k.squaresOfTwo = func(a, b []float32) (x, y float64) {
		return squaresOfTwoAVX512(len(a), first(a), first(b))
	}
}

// cosSinVector works on parts that fit into the first-level cache, because it reads each part
// twice.
func cosSinVector(cos, sin, src []float32, scale float32, wide bool) {
	const stretch = 1024
	for len(src) > 0 {
		n := min(stretch, len(src))
		switch {
		case tooWideAVX2(n, &src[0]):
			cosSinGeneric(cos[:n], sin[:n], src[:n], scale)
		case wide:
			cosSinAVX512(n, &cos[0], &sin[0], &src[0], scale)
		default:
			cosSinAVX2(n, &cos[0], &sin[0], &src[0], scale)
		}
		cos, sin, src = cos[n:], sin[n:], src[n:]
	}
}
