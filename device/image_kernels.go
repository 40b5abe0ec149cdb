package device

// pixelSum describes sums of vectors of up to eight numbers; see the function raise in
// internal/asmgen/image.go. Steps are in numbers.
type pixelSum struct {
	na, nb, stepA, stepB, stepX, stepDst, lanes int
}

// raiseKernel computes the sums of eight vectors, or of one.
type raiseKernel func(na, nb int, src *float32, stepA, stepB, stepX int, dst *float32,
	stepDst int, mask *int32)

// run sets n vectors of dst, stepDst numbers apart, to their sums. The terms start at src[at].
func (s pixelSum) run(k *kernels, n int, src []float32, at int, dst []float32) {
	if k.raise8 == nil {
		s.runGeneric(n, src, at, dst)
		return
	}
	var mask *int32
	if s.lanes < 8 {
		mask = edge(8-s.lanes, 8)
	}
	for i := 0; i < n; {
		do, next := k.raise1, i+1
		if n >= 8 { // the last eight vectors may include some that are already done
			i = min(i, n-8)
			do, next = k.raise8, i+8
		}
		do(s.na, s.nb, &src[at+i*s.stepX], 4*s.stepA, 4*s.stepB, 4*s.stepX, &dst[i*s.stepDst],
			4*s.stepDst, mask)
		i = next
	}
}

func (s pixelSum) runGeneric(n int, src []float32, at int, dst []float32) {
	for i := range n {
		out := dst[i*s.stepDst:][:s.lanes]
		clear(out)
		for a := range s.na {
			for b := range s.nb {
				from := src[at+i*s.stepX+a*s.stepA+b*s.stepB:][:len(out)]
				for k, v := range from {
					out[k] += v
				}
			}
		}
	}
}
