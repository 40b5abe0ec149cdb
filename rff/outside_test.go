package rff_test

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFeaturesOfAnything checks that features of tables satisfy their norm bound even if numbers of
// the record are outside [0, 1], infinite or NaN.
func TestFeaturesOfAnything(t *testing.T) {
	e := newEmbedding(t, embeddings()["pairs"])
	rng := rand.New(rand.NewPCG(6, 6))
	odd := []float32{2, 1.5, 1e30, -1, -1e30, float32(math.NaN()), float32(math.Inf(1)),
		float32(math.Inf(-1))}
	for range 300 {
		x := corner(rng, mixed)
		for _, b := range mixed.Blocks {
			if !b.OneHot { // reading a record ensures that one-hot blocks are valid
				x[b.Offset] = odd[rng.IntN(len(odd))]
			}
		}
		square := 0.0
		for _, v := range embed(e, x).Row(0) {
			square += float64(v) * float64(v)
		}
		if !(math.Sqrt(square) <= e.NormBound()) {
			t.Fatalf("record %v has features of norm %v, want at most %v", x, math.Sqrt(square),
				e.NormBound())
		}
	}
}
