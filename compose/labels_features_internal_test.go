package compose

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// promising is a backend with other promises. It counts the requested memory.
type promising struct {
	device.Backend
	promises device.Promises
	asked    *int
}

func (s promising) Promises() device.Promises { return s.promises }

func (s promising) New(rows, cols int) device.Matrix {
	*s.asked++
	return s.Backend.New(rows, cols)
}

// TestFeaturesNeedPromises checks that a device without both promises computes no features of
// records. On such a device one record could change the features of others, and clipping by sgd
// would not bound its effect.
func TestFeaturesNeedPromises(t *testing.T) {
	s := records.Image(8, 8).WithLabels("a", "b")
	data := must(records.FromFlat(s, make([]float32, 3*64), 0, 1, 0))(t)
	m := must(rff.Scattering{}.Features(rff.Layout{In: 64, Height: 8, Width: 8}, 0))(t)
	for _, p := range []device.Promises{{}, {RowsAlone: true}, {SameBits: true},
		{RowsAlone: true, SameBits: true}} {
		asked := 0
		r := &synth.Run{Data: data, Backend: promising{device.CPU(), p, &asked}}
		f, err := featuresOf(t.Context(), r, m)
		if err != nil || f.Len() != 3 {
			t.Fatal(err)
		}
		if (asked > 0) != (p.RowsAlone && p.SameBits) {
			t.Errorf("a backend that promises %+v is asked for %d matrices", p, asked)
		}
	}
}

// TestUndecidedIsRefused: a record between two labels, or without probabilities, is not kept, even
// without a margin. One at the margin is.
func TestUndecidedIsRefused(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		p    []float32
		own  int
		less float64 // the margin
		want bool
	}{
		{[]float32{0.5, 0.5}, 0, 0, false}, {[]float32{0.25, 0.375, 0.375}, 2, 0, false},
		{[]float32{0.25, 0.75}, 0, 0, false}, {[]float32{0.25, 0.75}, 1, 0, true},
		{[]float32{0.25, 0.75}, 1, 0.5, true}, {[]float32{0.25, 0.75}, 1, 0.51, false},
		{[]float32{nan, nan}, 0, 0, false}, {[]float32{0.75, nan}, 0, 0, false},
	} {
		l := &labelled{config: Labels{Margin: c.less}}
		if got := l.accepts(margin(c.p, c.own)); got != c.want {
			t.Errorf("label %d of %v, margin %v: accepted %v", c.own, c.p, c.less, got)
		}
	}
}
