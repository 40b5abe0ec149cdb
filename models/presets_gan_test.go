package models

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// flops returns the number of floating-point operations of a forward pass: two for each
// multiplication by a weight.
func flops(a CNN) int {
	total := 0
	for _, u := range unitsOf(a.critic(a.image().Len(), 0)) {
		switch u := u.(type) {
		case *convUnit:
			total += 2 * u.window.Places() * u.window.Patch() * u.maps
		case *denseUnit:
			total += 2 * u.width * u.wide
		}
	}
	return total
}

func TestGANPresets(t *testing.T) {
	if f := flops(Critic28(64)); f < 45e6 || f > 50e6 {
		t.Errorf("the paper's critic takes %d operations, want about 48 million", f)
	}
	if f := flops(Critic28(16)); f > 5e6 {
		t.Errorf("the critic for CPUs takes %d operations, want at most 5 million", f)
	}
	for side, pair := range map[int]struct {
		c CNN
		g ConvDecoder
	}{
		28: {Critic28(16), Generator28(32, 16)}, 29: {Critic28(64), Generator28(128, 64)},
	} {
		if err := pair.c.Validate(); err != nil {
			t.Errorf("%d: %v", side, err)
		}
		g, err := pair.g.NewGenerator(device.CPU(), 8, nil, 1)
		if err != nil {
			t.Fatalf("%d: %v", side, err)
		}
		if want := pair.c.image().Len(); g.Dim() != want {
			t.Errorf("side %d: the generator's images have %d numbers, the critic's %d", side, g.Dim(), want)
		}
	}
}
