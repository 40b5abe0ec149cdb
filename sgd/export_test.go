package sgd

import "github.com/seed7ba64551/privgen/device"

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

// GroupNoise returns the noise of each group.
func GroupNoise(clipNorms []float64, sizes []int) []float64 { return groupNoise(clipNorms, sizes) }

// Factor returns the factor of the learning rate at a step.
func (s Schedule) Factor(step int) float64 { return s.factor(step) }

// StepShared is Step on all cores, in pieces.
func (d *Descent) StepShared(be device.Sharing, params, grad []float32, scale float32) {
	const piece = 8192
	d.begin()
	be.Share((len(grad)+piece-1)/piece, func(i int) {
		lo, hi := i*piece, min((i+1)*piece, len(grad))
		d.state.updateRange32(params, lo, grad[lo:hi], scale)
	})
}
