//go:build cuda && cgo

package cuda_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/chunked"
	"github.com/seed7ba64551/privgen/mechanism"
)

func TestZZNoise(t *testing.T) {
	be, rng := open(t), rand.New(rand.NewPCG(3, 19))
	for _, dim := range []int{1, 511, 512, 513, 8191, 8192, 8193, 16384, 24577, 8192*9000 + 5} {
		big := dim > 1<<20
		if big {
			dim = 8192*3 + 1
		}
		for _, e := range []float64{-14, -3, 0, 3.3, 14, 18, 20, 25, 28} {
			here, there := grants(t, uint64(dim)), grants(t, uint64(dim))
			sum := device.NewFixed(be, device.Shape{Rows: 1, Cols: dim})
			all := &counted{}
			all.Device = be.(interface {
				NoisySum(units device.Memory, n int) any
			}).NoisySum(sum.Mem, dim).(chunked.Device)
			units := device.HostMatrix(1, dim, make([]float32, dim))
			onDevice := device.Matrix{Rows: 1, Cols: dim, Stride: dim, Mem: sum.Mem}
			for step := range 4 {
				spec := mechanism.Gradient{Unit: math.Ldexp(1, rng.IntN(60)-30), Units: make([]int32, dim), Sensitivity: 1.3,
					NoiseMultiplier: math.Exp2(e), Workers: 2}
				for i := range spec.Units {
					spec.Units[i] = int32(rng.Uint32())
					if i%7 == 0 {
						spec.Units[i] = []int32{math.MinInt32, math.MaxInt32, 0, 1, -1}[rng.IntN(5)]
					}
					units.Data[i] = math.Float32frombits(uint32(spec.Units[i]))
				}
				be.Upload(onDevice, units.Data)
				want, got := make([]float64, dim), make([]float64, dim)
				host := func() {
					if err := here().ReleaseGradient(spec, func(at int, noisy []float64) {
						copy(want[at:], noisy)
					}); err != nil {
						t.Fatal(err)
					}
				}
				host()
				spec.Units, spec.Device, spec.Dim = nil, all, dim
				if step == 2 { // on the host in between
					spec.Device, spec.Dim, spec.Units = nil, 0, make([]int32, dim)
					for i := range spec.Units {
						spec.Units[i] = int32(math.Float32bits(units.Data[i]))
					}
					if err := there().ReleaseGradient(spec, func(at int, noisy []float64) {
						copy(got[at:], noisy)
					}); err != nil {
						t.Fatal(err)
					}
				} else {
					if err := there().ReleaseGradient(spec, nil); err != nil {
						t.Fatal(err)
					}
					all.Noisy(got)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("dim %d e %v step %d: differs", dim, e, step)
				}
			}
			t.Log(dim, e, all.chunks, all.left)
		}
	}
}
