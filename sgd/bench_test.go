//go:build unix

package sgd_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// BenchmarkStep compares a private step of the paper's VAE (784-200-2-200-784) with a plain step,
// which has no clipping and no noise. Both sample rows, sum gradients and run the optimiser on all
// cores.
//
//	go test ./sgd -run '^$' -bench Step
func BenchmarkStep(b *testing.B) {
	for _, batch := range []int{64, 600, 1024} {
		b.Run(fmt.Sprintf("batch=%d/plain", batch), func(b *testing.B) { benchmarkPlain(b, batch) })
		b.Run(fmt.Sprintf("batch=%d/private", batch), func(b *testing.B) { benchmarkPrivate(b, batch) })
	}
}

const benchRows = 6000

func benchData(b *testing.B) *records.Table {
	rng := rand.New(rand.NewPCG(1, 1))
	flat := make([]float32, benchRows*784)
	for i := range flat {
		if rng.Float64() < 0.2 {
			flat[i] = 1
		}
	}
	data, err := records.FromFlat(records.Binary(784), flat)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func benchVAE(b *testing.B) models.Density {
	net, err := models.PaperVAE().New(device.CPU(), models.Visible{Dim: 784}, 1)
	if err != nil {
		b.Fatal(err)
	}
	return net
}

func benchmarkPrivate(b *testing.B, batch int) {
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: float64(batch) / benchRows, Steps: 1 << 20,
		NoiseMultiplier: 1, Optimizer: sgd.Adam(1e-4)}
	l := ledger.New(accountant.Budget{Epsilon: 1e12, Delta: 1e-5})
	trainer, err := sgd.New(cfg, benchVAE(b), l)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := -20 // warm up
	for _, err := range trainer.Steps(b.Context(), benchData(b)) {
		if err != nil {
			b.Fatal(err)
		}
		if n++; n == 0 {
			b.ResetTimer()
		}
		if n == b.N {
			break
		}
	}
	b.ReportMetric(float64(batch)*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
}

func benchmarkPlain(b *testing.B, batch int) {
	step := plainSteps(b, batch, benchData(b))
	for range 20 {
		step()
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(batch)*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
}
