//go:build !purego

package device

import "unsafe"

// useAVX2 replaces the element-wise kernels and reductions with AVX2 assembly.
func useAVX2(k *kernels) {
	useVectors(k)
	k.raise8, k.raise1, k.between, k.apart = raise8AVX2, raise1AVX2, betweenAVX2, apartAVX2
	k.lift = liftAVX2
	k.columns = &columnKernels{columnSlopesAVX2, normalizeAVX2, normalizeGradientAVX2}
	k.softmax, k.softmaxGradient = softmaxRowsAVX2, softmaxRowsGradientAVX2
	k.standardize, k.standardizeGradient = standardizeAVX2, standardizeGradientAVX2
	k.dot = dotVector
	k.cosSin = func(cos, sin, src []float32, scale float32) {
		cosSinParts(cos, sin, src, scale, false)
	}
	k.adamOfSum = func(p []float32, g []float64, m, v []float32, r *adamRates, scale float64) {
		adamOfSumAVX2(len(p), first(p), unsafe.SliceData(g), first(m), first(v), &r.beta1, scale)
	}
	k.gather = gatherVector
	k.scatter = scatterVector
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
		cosSinParts(cos, sin, src, scale, true)
	}
	k.squaresOfTwo = func(a, b []float32) (x, y float64) {
		return squaresOfTwoAVX512(len(a), first(a), first(b))
	}
}

// cosSinParts works on parts that fit into the first-level cache, because it reads each part
// twice.
func cosSinParts(cos, sin, src []float32, scale float32, wide bool) {
	const stretch = 1024
	for len(src) > 0 {
		n := min(stretch, len(src))
		switch {
		case tooWideAVX2(n, &src[0]):
			cosSinGeneric(cos[:n], sin[:n], src[:n], scale)
		case wide:
			cosSinAVX512(n, &cos[0], &sin[0], &src[0], scale)
		default:
			cosSinVector(n, &cos[0], &sin[0], &src[0], scale)
		}
		cos, sin, src = cos[n:], sin[n:], src[n:]
	}
}
