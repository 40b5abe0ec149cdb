package sgd

// Members returns the number of cores that compute the gradients of a batch of the given size with
// their own replicas, and 1 if one network computes them.
func (t *Trainer) Members(rows int) int {
	if !t.crew.takes(rows) {
		return 1
	}
	return len(t.crew.members)
}

// LeastRows is the number of rows from which a core takes its own rows.
const LeastRows = leastRows

// Noise returns the noise of each group.
func (s Split) Noise(clipNorms []float64, sizes []int) []float64 {
	return s.noise(clipNorms, sizes)
}

// Factor returns the factor of the learning rate at a step.
func (s Schedule) Factor(step int) float64 { return s.factor(step) }
