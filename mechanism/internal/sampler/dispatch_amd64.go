//go:build !purego

package sampler

import (
	"math"

	has "golang.org/x/sys/cpu"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

//go:generate go -C ../../../device/internal/asmgen run . -part noise -out ../../../mechanism/internal/sampler/noise_amd64.s -stubs ../../../mechanism/internal/sampler/noise_amd64.go -pkg sampler

// Fastest returns the best set of kernels for this machine.
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
	levels = append(levels, &Kernels{Name: "avx2", AddSum: inVectors(addSumAVX2, addSum),
		AddUnits: unitsInVectors(addUnitsAVX2, addWholeAVX2), Steps: (*Normal).fastRun})
	if has.X86.HasAVX512F && has.X86.HasAVX512VL && has.X86.HasAVX512DQ && has.X86.HasAVX512BW {
		wide := Kernels{Name: "avx512", AddSum: inVectors(addSumAVX512, addSum),
			AddUnits: unitsInVectors(addUnitsAVX512, addWholeAVX512), Steps: (*Normal).fastRun}
		levels = append(levels, &wide)
		if has.X86.HasAVX512IFMA {
			ifma := wide
			ifma.Name, ifma.Steps = "avx512ifma", (*Normal).wideRun
			levels = append(levels, &ifma)
			if has.X86.HasAVX512VAES {
				vaes := ifma
				vaes.Name, vaes.StepsAhead = "avx512vaes", (*Normal).wideRunAhead
				levels = append(levels, &vaes)
			}
		}
	}
	return levels
}

// lanes is a multiple of the number of elements that each vector kernel takes at a time.
const lanes = 8

// inVectors returns a function that uses kernel for whole vectors and the portable loop for the
// rest.
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

// unitsInVectors returns a function that uses the shorter kernel, whole, if a unit is a whole
// number of at most 2^19 steps. No limit is needed then, because 2^19 steps times 31 bits is at
// most 2^50.
func unitsInVectors(any, whole func(int, *float64, *int32, float64, float64)) func([]float64,
	[]int32, float64, float64) {
	slow, fast := inVectors(any, addUnits), inVectors(whole, addUnits)
	return func(noisy []float64, sum []int32, inverse, grid float64) {
		if inverse >= 1 && inverse <= 0x1p19 && inverse == math.Trunc(inverse) {
			fast(noisy, sum, inverse, grid)
		} else {
			slow(noisy, sum, inverse, grid)
		}
	}
}

// wideRun is like fastRun, but takes eight words at a time. Vector code uses the coarse form of the
// sampler. fastRun handles each word that the coarse form does not decide, and the words around it.
func (l *Normal) wideRun(dst []float64, words []uint64) int {
	return l.wideRunAhead(dst, words, &entropy.Ahead{})
}

// wideRunAhead is like wideRun, and also makes words ahead until ahead is complete.
func (l *Normal) wideRunAhead(dst []float64, words []uint64, ahead *entropy.Ahead) int {
	words = words[:len(dst)]
	if l.coarse.edge == 0 {
		return l.fastRun(dst, words)
	}
	done := 0
	for done < len(dst) {
		if whole := (len(dst) - done) &^ (lanes - 1); whole > 0 {
			done += l.vectors(dst[done:done+whole], words[done:], ahead)
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

// vectors draws the steps that leading words decide, and makes words ahead. It may stop before a
// word that does not decide its step, after the last word ahead has been made.
func (l *Normal) vectors(dst []float64, words []uint64, ahead *entropy.Ahead) int {
	c, done := &l.coarse, 0
	if left := len(ahead.Words) - ahead.Made; left > 0 {
		n := min(len(dst), left)
		done = stepsAheadVAES(n, &dst[0], &words[0], &l.layers[0].width, c.half, c.mask, c.edge,
			c.shift, &ahead.Words[ahead.Made], ahead.Schedule, ahead.First,
			ahead.Number+uint64(ahead.Made/2))
		ahead.Made += min(done/lanes*lanes+lanes, n)
		if done < n || n == len(dst) {
			return done
		}
	}
	return done + stepsAVX512(len(dst)-done, &dst[done], &words[done], &l.layers[0].width, c.half,
		c.mask, c.edge, c.shift)
}
