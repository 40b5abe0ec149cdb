package models

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestManyHeadsInBlocks: many heads, which are applied to a few rows at a time, give the bits that
// they give row by row, also if the last block is smaller.
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
	x := make([]float32, rows*u.width)
	rng := rand.New(rand.NewPCG(8, 1))
	for i := range x {
		x[i] = float32(4 * rng.NormFloat64())
	}
	whole, alone := slices.Clone(x), slices.Clone(x)
	be := device.CPU()
	u.apply(be, device.HostMatrix(rows, u.width, whole))
	for i := range rows {
		u.apply(be, device.HostMatrix(1, u.width, alone[i*u.width:(i+1)*u.width]))
	}
	for i := range whole {
		if whole[i] != alone[i] {
			t.Fatalf("row %d, column %d: %v, alone %v", i/u.width, i%u.width, whole[i], alone[i])
		}
	}
}
