package sampler

import "github.com/seed7ba64551/privgen/internal/entropy"

// Kernels is one implementation of the inner loops of a gradient's noise. All implementations
// give the same bits from the same words, so the noise does not depend on the machine.
type Kernels struct {
	Name string
	// AddSum does what addSum does.
	AddSum func(noisy []float64, sum []float32, inverse, grid float64)
	// AddUnits does what addUnits does.
	AddUnits func(noisy []float64, sum []int32, inverse, grid float64)
	// Steps draws steps from leading words as long as a single word decides each step, and returns
	// their number. It may write to all of dst.
	Steps func(l *Normal, dst []float64, words []uint64) int
	// StepsAhead is like Steps and also makes some or all of the following words; nil if that saves
	// nothing.
	StepsAhead func(l *Normal, dst []float64, words []uint64, ahead *entropy.Ahead) int
}

// portable returns the implementation in Go, which is the model for the others.
func portable() *Kernels {
	return &Kernels{Name: "portable", AddSum: addSum, AddUnits: addUnits, Steps: (*Normal).fastRun}
}
