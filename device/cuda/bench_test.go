//go:build cuda && cgo

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// timed returns a device. It skips the benchmark if the device is the fake one.
func timed(b *testing.B) device.Backend {
	b.Helper()
	be := open(b)
	if strings.Contains(be.Name(), "fake") {
		b.Skip("the speed of the fake device means nothing")
	}
	b.Log(be.Name())
	return be
}

// settle waits for the device, because methods return before their work is done.
func settle(be device.Backend, m device.Matrix) {
	be.Download(make([]float32, 1), m.Slice(0, 1, 0, 1))
}

// BenchmarkGemm measures the products of the paper's VAE, and a large product that shows the
// highest rate.
func BenchmarkGemm(b *testing.B) {
	be := timed(b)
	for _, s := range [][3]int{{1024, 784, 200}, {4096, 784, 200}, {4096, 200, 784},
		{8192, 8192, 8192}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s[0], s[1], s[2]), func(b *testing.B) {
			x, w, c := be.New(s[0], s[1]), be.New(s[1], s[2]), be.New(s[0], s[2])
			for b.Loop() {
				be.Gemm(false, false, 1, x, w, 0, c)
			}
			settle(be, c)
			work := 2 * float64(s[0]) * float64(s[1]) * float64(s[2])
			b.ReportMetric(work*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

// BenchmarkMemory measures the bandwidth of memory, which limits all element-wise operations. Axpy
// reads two numbers and writes one for each element.
func BenchmarkMemory(b *testing.B) {
	be := timed(b)
	const n = 1 << 26
	x, y := be.New(1, n), be.New(1, n)
	for b.Loop() {
		be.Axpy(1, x, y)
	}
	settle(be, y)
	b.ReportMetric(12*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}

// BenchmarkFeatures maps a batch of 500 records to 10,000 random Fourier features.
func BenchmarkFeatures(b *testing.B) {
	be := timed(b)
	x, freq, out := be.New(500, 784), be.New(784, 5000), be.New(500, 10000)
	for b.Loop() {
		angles := out.Slice(0, 500, 0, 5000)
		be.Gemm(false, false, 1, x, freq, 0, angles)
		be.CosSin(out, angles, 0.01)
	}
	settle(be, out)
	b.ReportMetric(500*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
}

// BenchmarkPrivateStep measures a whole step of DP-SGD on the paper's VAE (784-200-2-200-784):
// collecting records, gradients, clipping, noise and Adam.
func BenchmarkPrivateStep(b *testing.B) {
	be := timed(b)
	const rows = 60000
	rng := rand.New(rand.NewPCG(1, 1))
	flat := make([]float32, rows*784)
	for i := range flat {
		if rng.Float64() < 0.2 {
			flat[i] = 1
		}
	}
	data, err := records.FromFlat(records.Binary(784), flat)
	if err != nil {
		b.Fatal(err)
	}
	for _, batch := range []int{600, 1024, 4096} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) { privateStep(b, be, data, batch) })
	}
}

func privateStep(b *testing.B, be device.Backend, data records.Data, batch int) {
	net, err := models.PaperVAE().New(be, models.Visible{Dim: 784}, 1)
	if err != nil {
		b.Fatal(err)
	}
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: float64(batch) / float64(data.Len()),
		Steps:           1 << 20,
		NoiseMultiplier: 1, Optimizer: sgd.Adam(1e-4), MicroBatch: 2 * batch}
	trainer, err := sgd.New(cfg, net,
		ledger.New(accountant.Budget{Epsilon: 1e12, Delta: 1e-5}),
		sgd.WithBackend(be))
	if err != nil {
		b.Fatal(err)
	}
	n := -20 // warm up
	for _, err := range trainer.Steps(b.Context(), data) {
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

// BenchmarkCriticStep measures the private part of a step of WGAN-GP with batches of 512, for the
// convolutional critics of 28×28 images. This part computes the gradients of pairs, their norms,
// and the clipped sum on the host. Unlike BenchmarkPrivateStep, it does not include noise and the
// optimizer.
func BenchmarkCriticStep(b *testing.B) {
	be := timed(b)
	const rows = 512
	for name, arch := range map[string]models.CNN{"small": models.Critic28(16),
		"paper": models.Critic28(64)} {
		b.Run(name, func(b *testing.B) {
			critic, err := arch.Critic(be, 784, 0, 1)
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, 3))
			batch, fakes, mix := someRows(rng, rows, 784, 0), be.New(rows, 784), make([]float32, rows)
			for i := range mix {
				mix[i] = rng.Float32()
			}
			sum := device.NewParams(be, critic.Params().Shapes...)
			norms, weights, onHost := make([]float64, rows), make([]float32, rows),
				make([]float32, sum.Len())
			for b.Loop() {
				be.Fill(sum.Flat, 0)
				g := critic.PairGradients(batch, fakes, mix, 10)
				g.SquaredNorms(norms)
				for i, s := range norms {
					weights[i] = float32(mechanism.ClipFactor(s, 1))
				}
				g.AddWeightedSum(sum, weights)
				be.Download(onHost, sum.Flat)
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
		})
	}
}
