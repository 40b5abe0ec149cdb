package pld

import (
	"math"
	"testing"
)

// TestEitherDirectionCounts checks that ε is that of the larger direction, whichever it is: the two
// directions of a sampled Gaussian differ, and exchanging them must change nothing.
func TestEitherDirectionCounts(t *testing.T) {
	p := SampledBoth(0.1, &Pairs{Remove: Gauss{2}})
	var upper [2]float64
	for i, of := range []*Pairs{p, {Remove: p.Add, Add: p.Remove}} {
		c := NewComposition()
		c.Append(of, 8)
		a := c.Epsilon(1e-5, true)
		if !a.OK || !(a.Lower <= a.Upper) {
			t.Fatalf("got %+v, want a bracket", a)
		}
		upper[i] = a.Upper
	}
	if math.Abs(upper[0]-upper[1]) > 1e-6*upper[0] {
		t.Errorf("ε is at most %v, and %v with the directions exchanged", upper[0], upper[1])
	}
	for i, remove := range []Pair{p.Remove, p.Add} { // the test needs directions that differ
		c := NewComposition()
		c.Append(&Pairs{Remove: remove}, 8)
		if a := c.Epsilon(1e-5, true); i == 1 && !(a.Upper < 0.9*upper[0]) {
			t.Errorf("the add direction costs %v, which is not below %v", a.Upper, upper[0])
		}
	}
}

// TestWhatIsBeyondTheWindowCounts checks that probability beyond a window of losses, like that of
// an infinite loss, is taken from δ.
func TestWhatIsBeyondTheWindowCounts(t *testing.T) {
	channelOf := func(above, inf float64) channel {
		return channel{h: 0.5, mass: []float64{0.5, 0.3, 0.15, 0.05, 0}, above: above, inf: inf}
	}
	const delta = 0.03
	inside := channelOf(0, 0)
	want, ok := inside.epsilonUpper(delta / 2)
	if whole, _ := inside.epsilonUpper(delta); !ok || !(whole < want) {
		t.Fatalf("got ε = %v at half of δ, %v", want, whole)
	}
	for _, c := range []channel{channelOf(delta/2, 0), channelOf(0, delta/2),
		channelOf(delta/4, delta/4)} {
		if got, ok := c.epsilonUpper(delta); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%v beyond the window and %v at infinity: got ε = %v, want %v", c.above, c.inf, got,
				want)
		}
	}
	for _, c := range []channel{channelOf(delta, 0), channelOf(math.NaN(), 0)} {
		if got, ok := c.epsilonUpper(delta); ok {
			t.Errorf("%v beyond the window: got ε = %v, want none", c.above, got)
		}
	}
}
