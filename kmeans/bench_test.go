package kmeans_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// BenchmarkFit measures a fit of 60,000 binary records of 784 bits with ten clusters and 20
// iterations. The time includes computing features.
func BenchmarkFit(b *testing.B) {
	const n, in = 60000, 784
	rng := rand.New(rand.NewPCG(1, 1))
	levels := make([]byte, n*in)
	for i := range levels {
		levels[i] = byte(rng.Uint32())
	}
	s := records.BinaryImage(28, 28)
	data, err := records.FromBytes(s, levels)
	if err != nil {
		b.Fatal(err)
	}
	kernel, err := rff.RBF{Dim: 200, Bandwidth: 12}.New(in, 1)
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]kmeans.Features{"kernel200": kernel, "raw784": kmeans.Raw(s)} {
		b.Run(name, func(b *testing.B) {
			cfg := kmeans.Config{K: 10, Iterations: 20, NoiseMultiplier: 20}
			for b.Loop() {
				if _, err := kmeans.Fit(context.Background(), cfg, f, data,
					ledgerOf(accountant.AddOrRemoveOne)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
