package sampler

import "github.com/seed7ba64551/privgen/internal/entropy"

// Kernels is one way to do the inner loops of a gradient's noise. All ways give
// the same bits from the same words, so the noise does not depend on the machine.
type Kernels struct {
	Name string
	// AddSum is what addSum is.
	AddSum func(noisy []float64, sum []float32, inverse, grid float64)
	// AddUnits is what addUnits is.
	AddUnits func(noisy []float64, sum []int32, inverse, grid float64)
	// Steps draws as many leading steps as one word each decides, and returns how
	// many. It may write to all of dst.
	Steps func(l *Normal, dst []float64, words []uint64) int
	// StepsAhead is Steps that makes the words to come on the way, or some of them; nil where that
	// saves nothing.
	StepsAhead func(l *Normal, dst []float64, words []uint64, ahead *entropy.Ahead) int
}

// portable is the ways' model, in Go.
func portable() *Kernels {
	return &Kernels{Name: "portable", AddSum: addSum, AddUnits: addUnits, Steps: (*Normal).fastRun}
}
