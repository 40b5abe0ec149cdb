//go:build !purego

package device

// fastest returns the fastest set of kernels for this machine.
func fastest() *kernels { return neon() }

// available returns the sets of kernels that this machine can run, slowest first. Every arm64
// processor has NEON.
func available() []*kernels { return []*kernels{generic(), neon()} }

// neon returns kernels for NEON. They do the same operations in the same order as the kernels of
// avx2, and so give the same bits.
func neon() *kernels {
	k := generic()
	k.name = "neon"
	k.gemm = gemmKernels{
		rows: 6, lanes: genericLanes, deepNN: 400, deepTN: 256, copyTN: 150,
		packColumns: packColumnsGeneric,
	}
	for rows := 1; rows <= k.gemm.rows; rows++ {
		for vecs := 1; vecs <= 2; vecs++ {
			k.gemm.tile[rows][vecs] = tileOf{rows, vecs}.kernel
		}
	}
	for cols := 1; cols <= thinCols; cols++ {
		k.gemm.thinOne[cols] = thinOf{1, cols}.kernel
		k.gemm.thinMany[cols] = thinOf{thinRows[cols], cols}.kernel
	}
	k.gemm.packRows[1], k.gemm.packRows[2] = packRowsGeneric(1), packRowsGeneric(2)
	useNEON(k)
	return k
}

// useNEON replaces the element-wise kernels and reductions with NEON assembly.
func useNEON(k *kernels) {
	useVectors(k)
	k.dot = dotOfVectors
	k.cosSin = cosSinOfVectors
	k.adamOfSum = adamOfSumNEON
	k.gather = func(dst, w []float32, stride int, items []uint32) {
		for _, item := range items { // multiplication by 1 is exact, so this rounds like an addition
			axpyVector(len(dst), 1, first(w[int(item)*stride:]), first(dst))
		}
	}
	k.scatter = func(c []float32, stride int, items []uint32, src []float32) {
		for _, item := range items {
			axpyVector(len(src), 1, first(src), first(c[int(item)*stride:]))
		}
	}
}

// dotOfVectors adds up sixteen partial sums. If fewer than sixteen numbers remain at the end, they
// are added to the first eight sums, eight at a time.
func dotOfVectors(a, b []float32) float64 {
	var sums [16]float64
	n := len(a) &^ 15
	dotNEON(n, first(a), first(b), &sums[0])
	for ; n < len(a); n += 8 {
		var x, y [16]float32
		copy(x[:8], a[n:])
		copy(y[:8], b[n:])
		dotNEON(16, &x[0], &y[0], &sums[0])
	}
	return sixteenSums(&sums)
}

func cosSinOfVectors(cos, sin, src []float32, scale float32) {
	const stretch = 1024
	for len(src) > 0 {
		n := min(stretch, len(src))
		cosSinVector(n, first(cos), first(sin), first(src), scale)
		for i, x := range src[:n] {
			if !(x >= -widest && x <= widest) {
				cosSinGeneric(cos[i:i+1], sin[i:i+1], src[i:i+1], scale)
			}
		}
		cos, sin, src = cos[n:], sin[n:], src[n:]
	}
}

// adamOfSumNEON works on parts that fit into the first-level cache.
func adamOfSumNEON(p []float32, g []float64, m, v []float32, r *adamRates, scale float64) {
	var narrow [256]float32
	for lo := 0; lo < len(p); lo += len(narrow) {
		hi := min(lo+len(narrow), len(p))
		for i, x := range g[lo:hi] {
			narrow[i] = float32(scale * x)
		}
		adamVector(hi-lo, &p[lo], &narrow[0], &m[lo], &v[lo], &r.beta1, 1)
	}
}
