package merf

import (
	"testing"

	"github.com/seed7ba64551/privgen/synth"
)

// TestRestoredNoiseIsThatOfTheRelease: if some of the releases were lost, a run that is resumed in
// training knows the wider noise of sums and of counts, which weights and floors are made of.
func TestRestoredNoiseIsThatOfTheRelease(t *testing.T) {
	fresh := func() *samples {
		e := &Embedding{config: smallConfig(), sums: make([]float64, 12), counts: make([]float64, 2),
			noise: noise{sum: 1, count: 2}}
		var err error
		if e.features, err = e.config.features(); err != nil {
			t.Fatal(err)
		}
		return &samples{steps: 5, sums: e}
	}
	done := 3
	f, err := synth.NewFile(stateHeader{samplesHeader{4}, trainingHeader{&done, 3, 4}},
		fresh().sums.parts()...)
	if err != nil {
		t.Fatal(err)
	}
	s := fresh()
	if err := s.RestoreFrom(f); err != nil {
		t.Fatal(err)
	}
	if got := s.sums.noise; got.sum != 3 || got.count != 4 {
		t.Errorf("noise of ±%v on sums and ±%v on counts, want ±3 and ±4", got.sum, got.count)
	}
}
