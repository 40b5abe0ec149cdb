package compose

import (
	"errors"
	"fmt"
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

// asked is a model that notes the most records that are drawn at once, and draws none.
type asked struct {
	s    records.Schema
	most int
}

func (m *asked) Schema() records.Schema     { return m.s }
func (*asked) Encode() (*synth.File, error) { return synth.NewFile(struct{}{}) }
func (m *asked) Sampler(synth.Draw) (synth.Sampler, error) {
	return synth.Sampler{Schema: m.s, Next: func(n int) (records.Data, error) {
		m.most = max(m.most, n)
		return nil, errors.New("no records")
	}}, nil
}

// TestBiasesNeedLittleMemory: the records by which the biases are set are not all in memory at
// once. Those of 40 classes of colour images of 64 × 64 pixels would take 983 MB.
func TestBiasesNeedLittleMemory(t *testing.T) {
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprint(i))
	}
	m := &asked{s: records.RGBImage(64, 64).WithLabels(names...)}
	l := &labelled{config: Labels{Features: rff.RBF{Dim: 2, Bandwidth: 1}}, backend: device.CPU(),
		params: make([]float32, 3*40)}
	l.balance(&model{of: []synth.Model{m}})
	if bytes := 4 * m.most * m.s.Dim(); bytes > 128<<20 || bytes == 0 {
		t.Errorf("%d records are drawn at once, %d MB", m.most, bytes>>20)
	}
}
