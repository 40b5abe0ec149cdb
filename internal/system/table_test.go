package system

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestEndsOfARangeAreReached, which no sigmoid does by itself.
func TestEndsOfARangeAreReached(t *testing.T) {
	s := tableSampler{rng: rand.New(rand.NewPCG(1, 1))}
	for x, want := range map[float32]float32{0.004: 0, 0.995: 1, 0.5: 0.5} {
		if got := s.number(x, 0); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("%v becomes %v, not %v", x, got, want)
		}
	}
	if got := s.number(float32(math.NaN()), 0); got > 1 {
		t.Errorf("no number becomes %v", got)
	}
}
