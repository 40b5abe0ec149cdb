package merf

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/synth"
)

// trainingHeader tells a state of training from one of releases.
type trainingHeader struct {
	Done     *int    `json:"done"`
	SumStd   float64 `json:"sum_std"` // of the release
	CountStd float64 `json:"count_std"`
}

const (
	sectionAverage = "average"
	sectionFirst   = "first moments"
	sectionSecond  = "second moments"
	sectionRandom  = "public randomness"
)

// file is the training as it stands: all of it follows from the release and from public randomness.
func (t *training) file() (*synth.File, error) {
	head, err := json.Marshal(trainingHeader{&t.done, t.e.noise.sum, t.e.noise.count})
	if err != nil {
		return nil, err
	}
	random, err := t.source.MarshalBinary()
	if err != nil {
		return nil, err
	}
	f := &synth.File{Header: head, Sections: network.Sections(t.be, t.net)}
	for _, s := range t.moments() {
		f.Sections = append(f.Sections, synth.Section{Name: s.name, Data: network.Floats(t.be, s.at)})
	}
	f.Sections = append(f.Sections, synth.Section{Name: sectionRandom, Data: random})
	f.Sections = append(f.Sections, t.e.sections()...)
	return f, nil
}

type namedMatrix struct {
	name string
	at   device.Matrix
}

func (t *training) moments() []namedMatrix {
	return []namedMatrix{{sectionAverage, t.average.Flat}, {sectionFirst, t.first},
		{sectionSecond, t.second}}
}

// restore goes on from a state of training; a state of releases, or none, leaves the start as it
// is.
func (t *training) restore(f *synth.File) error {
	var h trainingHeader
	if f == nil {
		return nil
	}
	if err := json.Unmarshal(f.Header, &h); err != nil {
		return malformed(err)
	}
	if h.Done == nil {
		return nil
	}
	if *h.Done < 0 || *h.Done > t.g.Steps {
		return malformed(fmt.Errorf("%d of %d steps of training", *h.Done, t.g.Steps))
	}
	t.done = *h.Done
	if err := network.RestoreNet(f, t.be, t.net); err != nil {
		return err
	}
	for _, s := range t.moments() {
		if err := network.RestoreFloats(f, s.name, t.be, s.at); err != nil {
			return err
		}
	}
	random, err := f.Section(sectionRandom)
	if err != nil {
		return err
	}
	if err := t.source.UnmarshalBinary(random); err != nil {
		return malformed(errors.New("public randomness of another form"))
	}
	return nil
}
