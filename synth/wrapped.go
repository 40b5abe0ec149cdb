package synth

import "github.com/seed7ba64551/privgen/device"

// Wrapped is a model that stands for another one, clusters included. Systems that release the
// models of other systems embed it.
type Wrapped struct{ Model }

// Clusters returns the number of the model's clusters, 1 where it has none.
func (w Wrapped) Clusters() int {
	if of, ok := w.Model.(Mixture); ok {
		return of.Clusters()
	}
	return 1
}

// Weights returns the probabilities of the model's clusters.
func (w Wrapped) Weights() []float64 {
	if of, ok := w.Model.(Mixture); ok {
		return of.Weights()
	}
	return []float64{1}
}

// Assign says which of the model's clusters each record of a batch would belong to.
func (w Wrapped) Assign(b device.Batch, dst []int32) {
	if of, ok := w.Model.(Mixture); ok {
		of.Assign(b, dst)
		return
	}
	clear(dst)
}
