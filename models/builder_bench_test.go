package models_test

import (
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// BenchmarkBuilt measures gradients, norms and the clipped sum of batches of 256 on one core, for
// networks of the kinds that Opacus's examples have.
func BenchmarkBuilt(b *testing.B) {
	for name, c := range map[string]netCase{
		"mnist": {784, 0, func(x models.Value) models.Loss {
			h := x.Shape(28, 28, 1).Conv(models.Convolution{Maps: 16, Size: 8, Stride: 2, Pad: 3})
			h = h.Apply(device.ReLU).Conv(models.Convolution{Maps: 32, Size: 4, Stride: 2})
			h = h.Apply(device.ReLU)
			return h.Shape(1, 1, 6*6*32).Dense(32).Apply(device.ReLU).Dense(10).CrossEntropy()
		}},
		"names": {16, 64, func(x models.Value) models.Loss {
			h := x.Embed(64, 32).LSTM(64).Shape(1, 1, 16*64)
			return h.Columns(15*64, 16*64).Dense(18).CrossEntropy()
		}},
		"text": {64, 2000, func(x models.Value) models.Loss {
			return x.Embed(2000, 16).Mean().Dense(2).CrossEntropy()
		}},
	} {
		b.Run(name, func(b *testing.B) {
			net, err := models.Build(device.CPUWith(1), c.dim, 1, c.compute)
			if err != nil {
				b.Fatal(err)
			}
			const rows = 256
			batch := batchFor(c, rows, 3)
			rng := rand.New(rand.NewPCG(1, 1))
			for i := range batch.Labels {
				batch.Labels[i] = int32(rng.IntN(2))
			}
			norms, weights := make([]float64, rows), make([]float32, rows)
			for i := range weights {
				weights[i] = device.Odd(.01)
			}
			sum := device.NewFixed(device.CPU(), net.Params().Shapes...)
			sum.Unit, sum.Limit, sum.Chain = 0x1p-18, 8, 48
			for b.Loop() {
				g := net.Gradients(batch)
				g.SquaredNorms(norms)
				g.(models.FixedGradients).AddFixedSum(sum, weights)
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
