package models

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestManyHeadsInBlocks: many heads, which are applied to a few rows at a time and all those of one
// function together, give the bits that each gives alone, also if the last block is smaller.
func TestManyHeadsInBlocks(t *testing.T) {
	var heads []Head
	for i := range 40 {
		heads = append(heads, Head{1 + i%5, []HeadKind{SoftmaxHead, SigmoidHead, Linear, TanhHead}[i%4]})
	}
	u := newHeadUnit(heads)
	if len(u.heads) < manyHeads {
		t.Fatalf("%d heads are left, want at least %d", len(u.heads), manyHeads)
	}
	rows := 2*(blockOfHeads/u.width) + 3
	rng := rand.New(rand.NewPCG(8, 1))
	x, delta := normalMatrix(rng, rows, u.width), normalMatrix(rng, rows, u.width)
	y := device.HostMatrix(rows, u.width, slices.Clone(x.Data))
	dx := device.HostMatrix(rows, u.width, slices.Clone(delta.Data))
	for i := range rows {
		lo := 0
		for _, h := range heads {
			if out := y.Slice(i, i+1, lo, lo+h.Width); h.Out != Linear {
				applyHead(host, h.Out, out, out)
				headGradient(host, h.Out, out, dx.Slice(i, i+1, lo, lo+h.Width))
			}
			lo += h.Width
		}
	}
	for cores := 1; cores < 3; cores++ {
		be := device.CPUWith(cores)
		out, grad := be.New(rows, u.width), be.New(rows, u.width)
		u.copied(be, applyHead, out, x, out)
		u.copied(be, headGradient, out, delta, grad)
		if !slices.Equal(out.Data, y.Data) || !slices.Equal(grad.Data, dx.Data) {
			t.Fatalf("%d cores: heads together give other bits", cores)
		}
	}
}
