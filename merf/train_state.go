package merf

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/synth"
)

// trainingHeader distinguishes training state from release state.
type trainingHeader struct {
	Done     *int    `json:"done"`
	SumStd   float64 `json:"sum_std"` // of the release
	CountStd float64 `json:"count_std"`
}

// parts returns the state that training changes. It is a function of the release and of
// public randomness.
func (t *training) parts() []synth.Part {
	return append(network.Parts(t.be, t.net),
		network.MatrixPart("average", t.be, t.average.Flat),
		network.MatrixPart("first moments", t.be, t.first),
		network.MatrixPart("second moments", t.be, t.second),
		synth.RandomPart("public randomness", t.source))
}

// file is the training as it stands, and the release.
func (t *training) file() (*synth.File, error) {
	return synth.NewFile(trainingHeader{&t.done, t.e.noise.sum, t.e.noise.count},
		append(t.parts(), t.e.parts()...)...)
}

// restore resumes from training state; with release state, or none, training starts from the
// beginning.
func (t *training) restore(f *synth.File) error {
	if f == nil {
		return nil
	}
	var h trainingHeader
	if err := f.Decode(&h); err != nil || h.Done == nil {
		return err
	}
	if *h.Done < 0 || *h.Done > t.g.Steps {
		return synth.Malformed(fmt.Errorf("%d training steps of %d", *h.Done, t.g.Steps))
	}
	t.done = *h.Done
	return f.Load(t.parts()...)
}
