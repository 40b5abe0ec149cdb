//go:build cuda && cgo

package cuda_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/chunked"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
)

// counted counts the chunks that a device leaves to the host.
type counted struct {
	chunked.Device
	chunks, left int
}

func (c *counted) Draw(n *chunked.Chunks) []int32 {
	status := c.Device.Draw(n)
	for i, s := range status {
		if c.chunks++; s < 0 {
			c.left++
		}
		if c.chunks%5 == 0 { // the host can draw any chunk
			status[i] = -1
		}
	}
	return status
}

// grants returns a function that returns the grants of a run with the given key.
func grants(t *testing.T, key uint64) func() *mechanism.Grant {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 1e30, Delta: 1e-5})
	a, err := mechanism.Begin(privacytest.Seeded(t, t.Context(), key), l).Reserve("noise",
		accountant.Gaussian{NoiseMultiplier: 0x1p-14}, 10)
	if err != nil {
		t.Fatal(err)
	}
	return func() *mechanism.Grant {
		g, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

// TestNoiseHasTheBitsOfTheCPU checks that noisy sums on the device are those of the CPU, for many
// keys, sizes and standard deviations, and in several steps of one stream.
func TestNoiseHasTheBitsOfTheCPU(t *testing.T) {
	be, rng := open(t), rand.New(rand.NewPCG(3, 9))
	keys, steps, draws, all := 60, 3, 0, counted{}
	if *long {
		keys, steps = 1_000_000, 1
	}
	for key := range keys {
		dim := 1 + rng.IntN(1<<(1+rng.IntN(15)))
		if *long {
			dim = 1 + rng.IntN(64)
		}
		here, there := grants(t, uint64(key)), grants(t, uint64(key))
		sum := device.NewFixed(be, device.Shape{Rows: 1, Cols: dim})
		all.Device = be.(interface {
			NoisySum(units device.Memory, n int) any
		}).NoisySum(sum.Mem, dim).(chunked.Device)
		units := device.HostMatrix(1, dim, make([]float32, dim))
		onDevice := device.Matrix{Rows: 1, Cols: dim, Stride: dim, Mem: sum.Mem}
		for step := range steps {
			spec := mechanism.Gradient{Unit: 0x1p-16, Units: make([]int32, dim),
				Sensitivity:     math.Exp2(float64(rng.IntN(12) - 6)),
				NoiseMultiplier: math.Exp2(24*rng.Float64() - 12), Workers: 1}
			for i := range spec.Units {
				spec.Units[i] = int32(rng.Uint32()) >> rng.IntN(32)
				units.Data[i] = math.Float32frombits(uint32(spec.Units[i]))
			}
			be.Upload(onDevice, units.Data)
			want, got := make([]float64, dim), make([]float64, dim)
			if err := here().ReleaseGradient(spec, func(at int, noisy []float64) {
				copy(want[at:], noisy)
			}); err != nil {
				t.Fatal(err)
			}
			spec.Units, spec.Device, spec.Dim = nil, &all, dim
			if err := there().ReleaseGradient(spec, nil); err != nil {
				t.Fatal(err)
			}
			if all.Noisy(got); !slices.Equal(got, want) {
				t.Fatalf("key %d, %d coordinates, step %d, multiplier %v: other noise than on the CPU", key,
					dim, step, spec.NoiseMultiplier)
			}
			draws += dim
			if slices.ContainsFunc(host(be, onDevice), func(x float32) bool {
				return math.Float32bits(x) != 0
			}) {
				t.Fatal("the sum is not zero after its release")
			}
		}
	}
	t.Logf("%d draws; %d of %d chunks were left to the host", draws, all.left, all.chunks)
	if all.left > 5+all.chunks/50 {
		t.Errorf("%d of %d chunks were left to the host, want at most one in 50", all.left, all.chunks)
	}
}

// TestAdamOfSumHasTheBitsOfTheCPU checks that the device moves parameters and their average as a
// trainer on the CPU does, part by part.
func TestAdamOfSumHasTheBitsOfTheCPU(t *testing.T) {
	be, rng := open(t), rand.New(rand.NewPCG(7, 9))
	const n, cut = 1000, 333
	sum := be.(interface {
		NoisySum(units device.Memory, n int) any
	}).NoisySum(be.New(1, n).Mem, n).(noisySum)
	var here [4][]float32
	var there [4]device.Matrix
	for i := range here {
		there[i] = be.New(1, n)
		for range n {
			here[i] = append(here[i], rng.Float32())
		}
		be.Upload(there[i], here[i])
	}
	for step := range 3 {
		a := device.AdamStep{LR: .01, Beta1: .9, Beta2: .999, Eps: 1e-8, T: step + 1}
		cpu, noisy := device.NewAdam(a), make([]float64, n)
		for i := range noisy {
			noisy[i] = rng.NormFloat64()
		}
		sum.Replace(0, noisy)
		for _, part := range [][2]int{{0, cut}, {cut, n}} {
			lo, hi, scale := part[0], part[1], 1/float64(3+part[0])
			cpu.MoveSum(here[0][lo:hi], noisy[lo:hi], here[1][lo:hi], here[2][lo:hi], scale)
			sum.Adam(there[0], there[1], there[2], there[3], lo, hi, scale, .25, a)
		}
		for i, p := range here[0] {
			here[3][i] += float32(.25 * (p - here[3][i]))
		}
		for i := range here {
			if !slices.Equal(here[i], host(be, there[i])) {
				t.Fatalf("step %d: vector %d has other bits than on the CPU", step, i)
			}
		}
	}
}
