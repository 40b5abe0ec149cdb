package compose

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// rareClasses is a model of which one record in 2,500 is of the last class.
type rareClasses struct{ s records.Schema }

func (m rareClasses) Schema() records.Schema     { return m.s }
func (rareClasses) Encode() (*synth.File, error) { return synth.NewFile(struct{}{}) }
func (m rareClasses) Sampler(synth.Draw) (synth.Sampler, error) {
	return synth.Sampler{Schema: m.s, Next: func(n int) (records.Data, error) {
		labels := make([]int32, n)
		for i := range labels {
			if i%2500 == 0 {
				labels[i] = 4
			}
		}
		return records.FromFlat(m.s, make([]float32, n), labels...)
	}}, nil
}

// TestBiasesOfSureClassifiersAreFinite: noise can make a classifier sure of a class that the part
// hardly draws. If its bias became infinite, no file could hold the classifier, and a fit that has
// been paid for would end in an error.
func TestBiasesOfSureClassifiersAreFinite(t *testing.T) {
	s := records.Interval(1, 0, 1).WithLabels("0", "1", "2", "3", "4")
	l := &labelled{config: Labels{Features: rff.RBF{Dim: 2, Bandwidth: 1}}, backend: device.CPU(),
		params: make([]float32, 15)}
	l.params[14] = 4000
	l.balance(&model{of: []synth.Model{rareClasses{s}}})
	for i, v := range l.params {
		if math.IsInf(float64(v), 0) {
			t.Errorf("parameter %d is %g", i, v)
		}
	}
	if _, err := synth.NewFile(struct{}{}, l.sections()...); err != nil {
		t.Errorf("a generator that is paid for cannot be saved: %v", err)
	}
}
