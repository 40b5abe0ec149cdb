package network

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }

// TestNoWeightIsNeverPicked: an index without weight is not drawn, even by the smallest number.
func TestNoWeightIsNeverPicked(t *testing.T) {
	if got := NewChoice([]float64{0, 0, 3, 0}).Pick(rand.New(zeros{}), -1); got != 2 {
		t.Errorf("index %d is picked, want 2", got)
	}
}

// TestCodesOfNoClass: a label that is not a class has a code without one, in rows that had one.
func TestCodesOfNoClass(t *testing.T) {
	be := device.CPU()
	c := Codes{Backend: be, Latent: 1, Classes: 3}
	for labels, want := range map[[3]int32][]float32{
		{0, 1, 2}:  {5, 1, 0, 0, 5, 0, 1, 0, 5, 0, 0, 1},
		{-1, 3, 9}: {5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0},
	} {
		for range 2 {
			m := c.Fill(3, labels[:], func(_ int, code []float32) { code[0] = 5 })
			got := make([]float32, 12)
			if be.Download(got, m); !slices.Equal(got, want) {
				t.Errorf("labels %v have the codes %v, want %v", labels, got, want)
			}
		}
	}
}

// TestLargestOutputsAreWithinBounds: the sum of the lower bound and the width may round to more
// than the upper bound, which no record may exceed.
func TestLargestOutputsAreWithinBounds(t *testing.T) {
	rng, over := rand.New(rand.NewPCG(1, 2)), 0
	for range 200 {
		lo := rng.NormFloat64()
		hi := lo + rng.ExpFloat64()
		s := records.Interval(2, lo, hi)
		least, most := s.Bounds()
		if float32(least)+float32(most-least) > float32(most) {
			over++
		}
		d, err := Records(rng, s, false, []float32{1, 0}, nil)
		if err == nil {
			err = records.Check(d)
		}
		if err != nil {
			t.Fatalf("%v to %v: %v", lo, hi, err)
		}
	}
	if over == 0 {
		t.Error("no sum exceeds its bound")
	}
}
