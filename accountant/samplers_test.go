package accountant

import (
	"slices"
	"testing"
)

// TestSamplers: a guarantee names exactly the ways in which records were sampled.
func TestSamplers(t *testing.T) {
	g := Gaussian{NoiseMultiplier: 20}
	poisson := PoissonSampled{Probability: 0.1, Event: g}
	for _, c := range []struct {
		event Event
		want  []string
	}{
		{g, []string{samplerNone}},
		{poisson, []string{samplerPoisson}},
		{Repeated{Event: poisson, Count: 3}, []string{samplerPoisson}},
		{RandomAllocation{9, 20, 0, false}, []string{samplerAllocated}},
		{RandomAllocation{9, 20, 3, false}, []string{samplerAllocated}},
		{RandomAllocation{9, 20, 0, true}, []string{samplerShuffled}},
		{Composed{Events: []Event{g, poisson}}, []string{samplerNone, samplerPoisson}},
		{Composed{Events: []Event{poisson, g}}, []string{samplerNone, samplerPoisson}},
	} {
		if got := Samplers(c.event); !slices.Equal(got, c.want) {
			t.Errorf("%s: got samplers %q, want %q", Describe(c.event), got, c.want)
		}
	}
}
