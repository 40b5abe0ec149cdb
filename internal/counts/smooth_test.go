package counts

import (
	"math"
	"math/rand/v2"
	"testing"
)

// shapes are expected counts of 126 cells: even, falling, and with five frequent cells.
func smoothShapes() map[string][]float64 {
	out := map[string][]float64{}
	for name, f := range map[string]func(i int) float64{
		"even":    func(int) float64 { return 150 },
		"falling": func(i int) float64 { return 1500 * math.Exp(-float64(i)/12) },
		"spikes":  func(i int) float64 { return 40 + 3000*float64((i%31)/30) },
	} {
		list := make([]float64, 126)
		for i := range list {
			list[i] = f(i)
		}
		out[name] = list
	}
	return out
}

// TestSmoothHalvesTheNoise compares the sums of absolute errors with those of the noise itself. The
// means are over 20 draws with a fixed seed, so the test has no false alarms.
func TestSmoothHalvesTheNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const std = 60
	for name, want := range smoothShapes() {
		before, after := 0.0, 0.0
		for range 20 {
			noisy := make([]float64, len(want))
			for i, v := range want {
				noisy[i] = v + std*rng.NormFloat64()
			}
			for i, v := range Smooth(noisy, std) {
				before += math.Abs(noisy[i] - want[i])
				after += math.Abs(v - want[i])
			}
		}
		if after > before/2 {
			t.Errorf("%s: the errors' sum is %.0f, and %.0f without smoothing", name, after, before)
		}
	}
}

// TestSmoothKeepsWhatNoiseDoesNotExplain checks counts that are far above their noise, for every
// length up to 40, and that even counts stay even.
func TestSmoothKeepsWhatNoiseDoesNotExplain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 41 {
		counts, even := make([]float64, n), make([]float64, n)
		for i := range counts {
			counts[i], even[i] = 1000*float64(rng.IntN(100)), 7
		}
		for i, v := range Smooth(counts, 1e-3) {
			if math.Abs(v-counts[i]) > 1e-6 {
				t.Fatalf("%d cells: count %v became %v", n, counts[i], v)
			}
		}
		for _, v := range Smooth(even, 100) {
			if math.Abs(v-7) > 1e-9 {
				t.Fatalf("%d cells: even counts became %v", n, v)
			}
		}
	}
}
