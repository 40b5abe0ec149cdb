package records

import (
	"math"
	"testing"
)

// TestThresholdIsTotal over every kind of number there is.
func TestThresholdIsTotal(t *testing.T) {
	inf := float32(math.Inf(1))
	below := math.Float32frombits(0x3f000000 - 1)
	for _, c := range []struct{ in, want float32 }{
		{0, 0}, {float32(math.Copysign(0, -1)), 0}, {below, 0}, {0.5, 1}, {1, 1}, {math.MaxFloat32, 1}, {inf, 1},
		{-inf, 0}, {-0.5, 0}, {-1, 0}, {-math.MaxFloat32, 0}, {math.SmallestNonzeroFloat32, 0}, {-math.SmallestNonzeroFloat32, 0},
		{math.Float32frombits(0x7f800001), 0}, {math.Float32frombits(0x7fc00000), 0}, {math.Float32frombits(0xffffffff), 0}, {math.Float32frombits(0xff800001), 0},
	} {
		var got [1]float32
		threshold(got[:], []float32{c.in}, 0.5)
		if math.Float32bits(got[0]) != math.Float32bits(c.want) {
			t.Errorf("%v (%#x) becomes %v, want %v", c.in, math.Float32bits(c.in), got[0], c.want)
		}
	}
	for bits := uint64(0); bits < 1<<32; bits += 40503 { // a walk over all exponents and signs
		v := math.Float32frombits(uint32(bits))
		var got [1]float32
		threshold(got[:], []float32{v}, 0.5)
		if want := v >= 0.5; (got[0] == 1) != want || (got[0] != 0) != want {
			t.Fatalf("%#x becomes %v", bits, got[0])
		}
	}
}
