package sampler

import "github.com/seed7ba64551/privgen/internal/entropy"

// Kernels is one implementation of the inner loops of a gradient's noise. All implementations
// produce the same bits from the same words, so the noise does not depend on the machine.
type Kernels struct {
	Name string
	// AddSum has the same effect as addSum.
	AddSum func(noisy []float64, sum []float32, inverse, grid float64)
	// AddUnits has the same effect as addUnits.
	AddUnits func(noisy []float64, sum []int32, inverse, grid float64)
	// Steps turns leading words into steps until a single word does not decide a step, and returns
	// the number of steps. It may write to all of dst.
	Steps func(l *Normal, dst []float64, words []uint64) int
	// StepsAhead is like Steps and also makes some or all of the words ahead. It is nil if this saves
	// no time.
	StepsAhead func(l *Normal, dst []float64, words []uint64, ahead *entropy.Ahead) int
}

// portable returns the implementation in Go. All others must agree with it.
func portable() *Kernels {
	return &Kernels{Name: "portable", AddSum: addSum, AddUnits: addUnits, Steps: (*Normal).fastRun}
}
