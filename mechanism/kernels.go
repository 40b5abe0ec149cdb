package mechanism

// kernels is one way to do the inner loops of a gradient's noise. All ways give
// the same bits from the same words, so the noise does not depend on the machine.
type kernels struct {
	name string
	// addSum is what the function of that name is.
	addSum func(noisy []float64, sum []float32, inverse, grid float64)
	// addUnits is what the function of that name is.
	addUnits func(noisy []float64, sum []int32, inverse, grid float64)
	// steps is lattice.fastRun. It may write to all of dst.
	steps func(l *lattice, dst []float64, words []uint64) int
}

// portable is the ways' model, in Go.
func portable() *kernels {
	return &kernels{name: "portable", addSum: addSum, addUnits: addUnits, steps: (*lattice).fastRun}
}
