//go:build !purego

package sampler

import has "golang.org/x/sys/cpu"

//go:generate go -C ../../../device/internal/asmgen run . -part noise -out ../../../mechanism/internal/sampler/noise_amd64.s -stubs ../../../mechanism/internal/sampler/noise_amd64.go -pkg sampler

// Fastest is the best set of kernels for this machine.
func Fastest() *Kernels {
	levels := Available()
	return levels[len(levels)-1]
}

// Available lists the sets of kernels that this machine can run, slowest first.
func Available() []*Kernels {
	levels := []*Kernels{portable()}
	if !has.X86.HasAVX2 || !has.X86.HasFMA {
		return levels
	}
	levels = append(levels,
		&Kernels{"avx2", inVectors(addSumAVX2, addSum), inVectors(addUnitsAVX2, addUnits),
			(*Normal).fastRun})
	if has.X86.HasAVX512F && has.X86.HasAVX512VL && has.X86.HasAVX512DQ && has.X86.HasAVX512BW {
		wide := &Kernels{"avx512", inVectors(addSumAVX512, addSum), inVectors(addUnitsAVX512, addUnits),
			(*Normal).fastRun}
		levels = append(levels, wide)
		if has.X86.HasAVX512IFMA {
			levels = append(levels, &Kernels{"avx512ifma", wide.AddSum, wide.AddUnits, (*Normal).wideRun})
		}
	}
	return levels
}

// lanes is how many numbers a vector kernel takes at a time, or a multiple.
const lanes = 8

// inVectors leaves to the portable loop what does not fill a vector.
func inVectors[T float32 | int32](kernel func(int, *float64, *T, float64, float64),
	portable func([]float64, []T, float64, float64)) func([]float64, []T, float64, float64) {
	return func(noisy []float64, sum []T, inverse, grid float64) {
		sum = sum[:len(noisy)]
		whole := len(noisy) &^ (lanes - 1)
		if whole > 0 {
			kernel(whole, &noisy[0], &sum[0], inverse, grid)
		}
		portable(noisy[whole:], sum[whole:], inverse, grid)
	}
}

// wideRun is fastRun eight words at a time. Vectors decide by the sampler's
// coarse form; a word they leave open, and those around it, fastRun looks at.
func (l *Normal) wideRun(dst []float64, words []uint64) int {
	words = words[:len(dst)]
	c := &l.coarse
	if c.edge == 0 {
		return l.fastRun(dst, words)
	}
	done := 0
	for done < len(dst) {
		if whole := (len(dst) - done) &^ (lanes - 1); whole > 0 {
			done += stepsAVX512(whole, &dst[done], &words[done], &l.layers[0].width, c.half, c.mask,
				c.edge, c.shift)
		}
		some := min(lanes, len(dst)-done)
		n := l.fastRun(dst[done:done+some], words[done:])
		done += n
		if n < some {
			return done
		}
	}
	return done
}
