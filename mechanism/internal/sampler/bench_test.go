package sampler

import (
	"testing"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

func BenchmarkNoiseKernels(b *testing.B) {
	l, err := NewNormal(0x1.8p24)
	if err != nil {
		b.Fatal(err)
	}
	words, rng := make([]uint64, 0, entropy.Buffer), fixedBits(1)
	for len(words) < cap(words) {
		if word := rng.Uint64(); l.fastRun(make([]float64, 1), []uint64{word}) == 1 {
			words = append(words, word)
		}
	}
	noisy, sum := make([]float64, len(words)), make([]float32, len(words))
	perNumber := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(words)), "ns/number")
	}
	for _, k := range Available() {
		b.Run("steps/"+k.Name, func(b *testing.B) {
			for b.Loop() {
				k.Steps(l, noisy, words)
			}
			perNumber(b)
		})
		b.Run("addSum/"+k.Name, func(b *testing.B) {
			for b.Loop() {
				k.AddSum(noisy, sum, 0x1p24, 0x1p-24)
			}
			perNumber(b)
		})
	}
}
