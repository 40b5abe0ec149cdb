package device

import (
	"math"
	"testing"
)

// TestClampAndThresholdAreTotal checks numbers of all exponents and signs, NaN included, at every
// level.
func TestClampAndThresholdAreTotal(t *testing.T) {
	var numbers []float32
	for bits := uint64(0); bits < 1<<32; bits += 40503 {
		numbers = append(numbers, math.Float32frombits(uint32(bits)))
	}
	for _, bits := range []uint32{0, 1 << 31, 1, 1<<31 | 1, 0x3f000000 - 1, 0x3f000000, 0x7f800000,
		0xff800000, 0x7f800001, 0xffffffff, 0x7f7fffff} {
		numbers = append(numbers, math.Float32frombits(bits))
	}
	got := make([]float32, len(numbers))
	zero := float32(math.Copysign(0, -1))
	for _, k := range available() {
		for _, bounds := range [][2]float32{{0, 1}, {-1, 1}, {0.5, 0.5}, {zero, 3}, {-3, zero},
			{-math.MaxFloat32, math.MaxFloat32}} {
			lo, hi := bounds[0], bounds[1]
			k.clamp(got, numbers, lo, hi)
			for i, v := range numbers {
				want := v + 0
				if v > hi {
					want = hi
				}
				if !(v > lo) {
					want = lo
				}
				if math.Float32bits(got[i]) != math.Float32bits(want) {
					t.Fatalf("%s: %v clamped to [%v, %v] is %v, want %v", k.name, v, lo, hi, got[i], want)
				}
			}
		}
		for _, bound := range []float32{0.5, 0, -2} {
			k.threshold(got, numbers, bound)
			for i, v := range numbers {
				want := float32(0)
				if v >= bound {
					want = 1
				}
				if math.Float32bits(got[i]) != math.Float32bits(want) {
					t.Fatalf("%s: the threshold %v of %v gives %v, want %v", k.name, bound, v, got[i], want)
				}
			}
		}
	}
}

// TestClampKeepsToItsNumbers checks slices of every length, operations in place, and destinations
// that are longer than the source: numbers beyond the length of the source must not change.
func TestClampKeepsToItsNumbers(t *testing.T) {
	for n := range 70 {
		src, dst := make([]float32, n), make([]float32, n+9)
		for i := range src {
			src[i] = float32(i) - 30
		}
		for i := range dst {
			dst[i] = 77
		}
		Clamp(dst, src, -5, 5)
		Threshold(src, src, 0)
		for i, v := range dst {
			switch {
			case i >= n && v != 77:
				t.Fatalf("%d numbers: number %d, beyond the end of the source, was written", n, i)
			case i < n && v != max(min(float32(i)-30, 5), -5), i < n && (src[i] == 1) != (i >= 30):
				t.Fatalf("%d numbers: number %d is wrong: %v clamped or %v for the threshold", n, i, v, src[i])
			}
		}
	}
}
