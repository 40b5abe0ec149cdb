package compose

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// TestStatesAreChecked: a checkpoint with more steps of the classifier than have been drawn, or
// with sections missing, is refused.
func TestStatesAreChecked(t *testing.T) {
	start := func() (*run, *learning) {
		be := device.CPU()
		net := must(models.MLP{}.Classifier(be, 3, 2, 1))(t)
		trainer := must(sgd.New(sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4,
			NoiseMultiplier: 1, NominalBatch: 1, Optimizer: sgd.Momentum(1, 0.5)}, net,
			ledger.New(accountant.Budget{Epsilon: 50, Delta: 1e-5})))(t)
		return statesOf(&synth.File{Header: []byte(`{"a":1}`), Sections: []synth.Section{{Name: "b"}}}),
			&learning{net: net, trainer: trainer, be: be, steps: 3}
	}
	r, l := start()
	if err := l.resume(r, 4); err != nil {
		t.Fatal(err)
	}
	f := must(r.file())(t)
	for drawn, want := range map[int]bool{2: false, 3: true, 4: true} {
		r, l := start()
		l.steps = 0
		if err := r.restore(f); err != nil {
			t.Fatal(err)
		}
		err := l.resume(r, drawn)
		if (err == nil) != want || err != nil && !errors.Is(err, synth.ErrFormat) {
			t.Errorf("3 steps of %d drawn: %v", drawn, err)
		}
		if want && (l.steps != 3 || r.states[0] == nil || len(r.states[0].Sections) != 1) {
			t.Errorf("restored %d steps and %v", l.steps, r.states[0])
		}
	}
	cut := *f
	cut.Sections = f.Sections[:len(f.Sections)-1]
	if err := r.restore(&cut); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("a section is missing: %v", err)
	}
}

// TestFeaturesPrintAsPrivate under every verb.
func TestFeaturesPrintAsPrivate(t *testing.T) {
	f := &featured{schema: records.Interval(2, -1, 1), bound: 1, rows: []int16{31, 41},
		labels: []int32{5}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		if got := fmt.Sprintf(verb, f); got != "[private]" {
			t.Errorf("%s: %s", verb, got)
		}
	}
}
