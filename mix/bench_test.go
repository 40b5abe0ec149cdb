package mix_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// BenchmarkMixtures releases 60,000 mixtures of degree 64 of 60,000 images of 784 pixels, for two
// kinds of sampling. The relevant metric is mixtures/s.
func BenchmarkMixtures(b *testing.B) {
	s := records.Image(28, 28).WithLabels("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
	data := bytesOf(b, s, 60000)
	for _, sampling := range []mix.Sampling{mix.Poisson{Nominal: 60000, Degree: 64},
		mix.WithoutReplacement{Records: 60000, Degree: 64}} {
		c := mix.Config{Schema: s, Budget: accountant.Budget{Epsilon: 100, Delta: 1e-5,
			Relation: sampling.Relation()}, Sampling: sampling, Mixtures: 60000,
			ClipNorm: 9.2, NoiseMultiplier: 1}
		p := mustPlan(b, c)
		b.Run(sampling.Relation().String(), func(b *testing.B) {
			for range b.N {
				if _, err := p.FitOn(b.Context(), ledger.New(c.Budget), data); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*c.Mixtures)/b.Elapsed().Seconds(), "mixtures/s")
		})
	}
}

func bytesOf(tb testing.TB, s records.Schema, n int) *records.Table {
	tb.Helper()
	levels, labels := make([]uint8, n*s.Dim()), make([]int32, n)
	for i := range levels {
		levels[i] = uint8((uint32(i) * 2654435761) >> 24)
	}
	for i := range labels {
		labels[i] = int32(i % 10)
	}
	t, err := records.FromBytes(s, levels, labels...)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}
