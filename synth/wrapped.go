package synth

import "github.com/seed7ba64551/privgen/device"

// Wrapped is a model that passes every call on to another model, including those about clusters.
// Systems that release the models of other systems embed it.
type Wrapped struct{ Model }

// Clusters returns the number of the model's clusters, 1 if it has none.
func (w Wrapped) Clusters() int {
	if of, ok := w.Model.(Mixture); ok {
		return of.Clusters()
	}
	return 1
}

// Weights returns the probabilities of the model's clusters, and {1} if it has none.
func (w Wrapped) Weights() []float64 {
	if of, ok := w.Model.(Mixture); ok {
		return of.Weights()
	}
	return []float64{1}
}

// Assign writes the cluster of each record of a batch to dst, and 0 if the model has no clusters.
func (w Wrapped) Assign(b device.Batch, dst []int32) {
	if of, ok := w.Model.(Mixture); ok {
		of.Assign(b, dst)
		return
	}
	clear(dst)
}
