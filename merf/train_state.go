package merf

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/synth"
)

// trainingHeader distinguishes the state of training from the state of a release.
type trainingHeader struct {
	Done     *int    `json:"done"`
	SumStd   float64 `json:"sum_std"` // noise of the release
	CountStd float64 `json:"count_std"`
}

// stateHeader has the fields of every state that a checkpoint of a plan can hold. Each stage reads
// its own fields, also from the state of another stage.
type stateHeader struct {
	samplesHeader
	trainingHeader
}

// parts returns the file's parts for the state that training changes. This state is a function of
// the release and of public randomness.
func (t *training) parts(i int) []synth.Part {
	return append(network.PartsOf(i, t.be, t.net),
		network.MatrixPart(network.Numbered("average", i), t.be, t.average.Flat),
		network.MatrixPart(network.Numbered("first moments", i), t.be, t.first),
		network.MatrixPart(network.Numbered("second moments", i), t.be, t.second),
		synth.RandomPart(network.Numbered("public randomness", i), t.source))
}

func (m *ensemble) parts() (list []synth.Part) {
	for i, t := range m.members {
		list = append(list, t.parts(i)...)
	}
	return list
}

// file returns a file of the training's state and the release.
func (m *ensemble) file() (*synth.File, error) {
	return synth.NewFile(trainingHeader{&m.done, m.e.noise.sum, m.e.noise.count},
		append(m.parts(), m.e.parts()...)...)
}

// RestoreFrom reads the state of training. If f contains only the state of a release, training
// starts from the beginning.
func (m *ensemble) RestoreFrom(f *synth.File) error {
	var h stateHeader
	if err := f.Decode(&h); err != nil || h.Done == nil {
		return err
	}
	if *h.Done < 0 || *h.Done > m.g.Steps {
		return synth.Malformed(fmt.Errorf("%d training steps are done, want 0 to %d", *h.Done, m.g.Steps))
	}
	m.done = *h.Done
	return f.Load(m.parts()...)
}
