package device

import "math"

// generic returns the portable version of every kernel. The bits are those of the vector kernels,
// on every processor: fma32 fuses where they do, and elsewhere products are converted explicitly,
// so compilers do not fuse a product with an addition.
func generic() *kernels {
	return &kernels{
		name: "generic",
		apply: [funcs]func(dst, src []float32){
			Identity: func(dst, src []float32) {
				copy(dst, src)
			}, ReLU: reluGeneric, LeakyReLU: leakyGeneric, Tanh: forEach(tanh32),
			Sigmoid: forEach(sigmoid32), Softplus: forEach(softplus32), Exp: forEach(exp32),
			Log: forEach(log32),
		},
		gradient: [funcs]func(delta, out []float32){
			Identity: func(delta, out []float32) {}, ReLU: reluGradient, LeakyReLU: leakyGradient,
			Tanh:    tanhGradient,
			Sigmoid: sigmoidGradient, Softplus: softplusGradient, Exp: expGradient, Log: logGradient,
		},
		axpy: axpyGeneric, scale: scaleGeneric, clamp: clampGeneric, threshold: thresholdGeneric,
		mul: mulGeneric, sub: subGeneric, dot: dotGeneric, adamOfSum: adamOfSumGeneric,
		cosSin: cosSinGeneric, adam: adamGeneric, gather: gatherGeneric, scatter: scatterGeneric,
		larger: largerGeneric, giveEqual: giveEqualGeneric, softmaxGradient: softmaxGradientGeneric,
		standardize: standardizeGeneric, standardizeGradient: standardizeGradientGeneric,
		units: unitsGeneric, addUnits: addUnitsGeneric, scaleOdd: scaleOddGeneric,
		gemm: gemmGeneric(),
	}
}

func forEach(f func(float32) float32) func(dst, src []float32) {
	return func(dst, src []float32) {
		for i, x := range src {
			dst[i] = f(x)
		}
	}
}

func reluGeneric(dst, src []float32) {
	for i, x := range src {
		if x < 0 {
			x = 0
		}
		dst[i] = x
	}
}

func leakyGeneric(dst, src []float32) {
	for i, x := range src {
		if x < 0 {
			x *= LeakySlope
		}
		dst[i] = x
	}
}

func reluGradient(delta, out []float32) {
	for i, y := range out {
		if y <= 0 {
			delta[i] = 0
		}
	}
}

func leakyGradient(delta, out []float32) {
	for i, y := range out {
		if y <= 0 {
			delta[i] *= LeakySlope
		}
	}
}

func tanhGradient(delta, out []float32) {
	for i, y := range out {
		delta[i] *= fma32(-y, y, 1)
	}
}

func sigmoidGradient(delta, out []float32) {
	for i, y := range out {
		delta[i] *= y * (1 - y)
	}
}

func softplusGradient(delta, out []float32) {
	for i, y := range out {
		t := tanh32(y * 0.5)
		delta[i] *= (t + t) / (t + 1)
	}
}

func expGradient(delta, out []float32) {
	for i, y := range out {
		delta[i] *= y
	}
}

func logGradient(delta, out []float32) {
	for i, y := range out {
		delta[i] *= exp32(-y)
	}
}

func axpyGeneric(alpha float32, x, y []float32) {
	y = y[:len(x)]
	a := float64(alpha)
	for i, v := range x { // as fma32, without a call
		p, q := a*float64(v), float64(y[i])
		sum := p + q
		if doubtful(sum) {
			sum = toOdd(p, q)
		}
		y[i] = float32(sum)
	}
}

func scaleGeneric(alpha float32, x []float32) {
	for i := range x {
		x[i] *= alpha
	}
}

func mulGeneric(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

func subGeneric(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

// dotGeneric adds up sixteen partial sums. If fewer than sixteen numbers remain at the end, they
// are added to the first eight sums, eight at a time. Products are exact: 48 bits.
func dotGeneric(a, b []float32) float64 {
	var sums [16]float64
	b = b[:len(a)]
	whole := len(a) &^ 15
	for i, x := range a[:whole] {
		sums[i&15] += float64(x) * float64(b[i])
	}
	for i, x := range a[whole:] {
		sums[i&7] += float64(x) * float64(b[whole+i])
	}
	return sixteenSums(&sums)
}

// sixteenSums adds up partial sums in the order of all levels.
func sixteenSums(sums *[16]float64) float64 {
	var s [4]float64
	for i := range s {
		s[i] = (sums[i] + sums[8+i]) + (sums[4+i] + sums[12+i])
	}
	return (s[0] + s[2]) + (s[1] + s[3])
}

func cosSinGeneric(cos, sin, src []float32, scale float32) {
	for i, x := range src {
		cos[i], sin[i] = cosSin32(x, scale)
	}
}

func gatherGeneric(dst, w []float32, stride int, items []uint32) {
	for _, item := range items {
		row := w[int(item)*stride:]
		for i := range dst {
			dst[i] += row[i]
		}
	}
}

func scatterGeneric(c []float32, stride int, items []uint32, src []float32) {
	for _, item := range items {
		row := c[int(item)*stride:]
		for i, x := range src {
			row[i] += x
		}
	}
}

func (s AdamStep) rates() adamRates {
	t := float64(s.T)
	return adamRates{
		beta1: s.Beta1, rest1: 1 - s.Beta1, beta2: s.Beta2, rest2: 1 - s.Beta2, eps: s.Eps,
		step: float32(float64(s.LR) / (1 - math.Pow(float64(s.Beta1), t))),
		root: float32(1 / math.Sqrt(1-math.Pow(float64(s.Beta2), t))),
	}
}

func adamGeneric(p, g, m, v []float32, r *adamRates, scale float32) {
	for i, x := range g {
		x *= scale
		m[i] = fma32(r.rest1, x, r.beta1*m[i])
		v[i] = fma32(r.rest2, x*x, r.beta2*v[i])
		p[i] -= r.step * m[i] / fma32(r.root, float32(math.Sqrt(float64(v[i]))), r.eps)
	}
}

// adamOfSumGeneric works on parts that fit into the first-level cache.
func adamOfSumGeneric(p []float32, g []float64, m, v []float32, r *adamRates, scale float64) {
	var narrow [256]float32
	for lo := 0; lo < len(p); lo += len(narrow) {
		hi := min(lo+len(narrow), len(p))
		for i, x := range g[lo:hi] {
			narrow[i] = float32(scale * x)
		}
		adamGeneric(p[lo:hi], narrow[:hi-lo], m[lo:hi], v[lo:hi], r, 1)
	}
}

// clampGeneric selects among bit patterns, because this compiles to conditional moves. Selecting
// among floats would compile to branches that depend on the data and cannot be predicted. Adding
// zero turns −0 into 0.
func clampGeneric(dst, src []float32, lo, hi float32) {
	dst = dst[:len(src)]
	below, above := math.Float32bits(lo), math.Float32bits(hi)
	for i, v := range src {
		bits := math.Float32bits(v + 0)
		if v > hi {
			bits = above
		}
		if !(v > lo) {
			bits = below
		}
		dst[i] = math.Float32frombits(bits)
	}
}

func thresholdGeneric(dst, src []float32, t float32) {
	const one = 0x3f800000 // the bits of 1
	dst = dst[:len(src)]
	for i, v := range src {
		var bits uint32
		if v >= t {
			bits = one
		}
		dst[i] = math.Float32frombits(bits)
	}
}
