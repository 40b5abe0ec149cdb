package mechanism

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// hardSums returns coordinates at which rounding, limits and formats change.
func hardSums(grid float64) []float32 {
	hard := []float32{0, 1, math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126, 0x1p-127,
		0x1.fffffep127,
		float32(math.Inf(1))}
	for _, nan := range []uint32{0x7fc00001, 0x7f800001, 0x7fffffff} {
		hard = append(hard, math.Float32frombits(nan))
	}
	for _, steps := range []float64{0.5, 1.5, 2.5, 0x1p22 + 0.5, 0x1p23, sampler.MaxSteps / 2,
		sampler.MaxSteps, sampler.MaxSteps * 2} {
		x := float32(steps * grid)
		hard = append(hard, x, math.Nextafter32(x, 0), math.Nextafter32(x, math.MaxFloat32))
	}
	for _, x := range slices.Clone(hard) {
		hard = append(hard, float32(math.Copysign(float64(x), -1)),
			math.Float32frombits(math.Float32bits(x)|1<<31))
	}
	return hard
}

// gradientDigest returns the SHA-256 of noisy sums from a fixed seed.
func gradientDigest(t *testing.T, k *sampler.Kernels) string {
	t.Helper()
	digest := sha256.New()
	for i, z := range []float64{1e-3, 1, 1.5, 300, 1 << 17, 1e6} {
		g := grantOf(t, gaussian(1e-4))
		source := must(entropy.Seeded(uint64(i)))(t)
		g.a.run.source, g.a.chunks = source, newParallel(k)
		sum := make([]float32, 20*chunk+777)
		rng := rand.New(fixedBits(26))
		for j := range sum {
			sum[j] = float32(rng.NormFloat64())
		}
		copy(sum[chunk/2:], hardSums(0x1p-24))
		spec := Gradient{Sum: sum, Sensitivity: 1, NoiseMultiplier: z, Workers: 1}
		if err := g.ReleaseGradient(spec, func(_ int, noisy []float64) {
			for _, v := range noisy {
				digest.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// TestSameNoiseEverywhere: a seed gives the same noise with every set of kernels, with and without
// the build tag purego, and on every little-endian machine.
func TestSameNoiseEverywhere(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("words are read in the machine's byte order")
	}
	const want = "2802c0616be12527c96f75d43f9525e661bcd9f1f8b74c55091e2229b1159bd5"
	for _, k := range sampler.Available() {
		if got := gradientDigest(t, k); got != want {
			t.Errorf("%s: digest %s, want %s", k.Name, got, want)
		}
	}
}
