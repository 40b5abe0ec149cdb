package device

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// onceRounded returns xy + z for finite numbers, rounded once by package math/big.
func onceRounded(x, y, z float32) float32 {
	exact := func(v float32) *big.Float { return big.NewFloat(float64(v)).SetPrec(800) }
	sum := exact(x)
	sum.Mul(sum, exact(y)).Add(sum, exact(z))
	rounded, _ := sum.Float32()
	return rounded
}

// hardSums returns operands whose exact sums lie at, or next to, a midpoint between two float32
// numbers, or at the ends of the range of float32.
func hardSums(r *rand.Rand, n int) [][3]float32 {
	tiny := math.Float32frombits
	list := [][3]float32{{1, 1, -1}, {-1, 0, 0}, {math.MaxFloat32, 2, -math.MaxFloat32},
		{math.MaxFloat32, 1, 0x1p103}, {math.MaxFloat32, 1, 0x1.fffffep102},
		{tiny(1), 0.5, 0}, {tiny(1), 0.5, tiny(1)}, {tiny(1), -0.5, tiny(1)}, {tiny(3), 0.5, tiny(8)},
		{0x1p-75, 0x1p-75, tiny(5)}, {0x1.000002p-75, 0x1p-75, tiny(5)}, {0x1p-140, 0x1p-140, tiny(1)},
		{0x1p-126, 0x1.fffffep-1, 0}, {0x1p-126, 0x1.fffffep-1, 0x1p-149},
		// The sum is less than one last place in float64 below a midpoint of subnormal numbers.
		{1048609 * 0x1p-95, 1048543 * 0x1p-95, tiny(0x400001)}}
	for len(list) < n {
		z := math.Float32frombits(r.Uint32())
		if r.IntN(4) == 0 {
			z = math.Float32frombits(r.Uint32() & 0x80ffffff) // next to the smallest normal number
		}
		half := (float64(math.Nextafter32(z, float32(math.Inf(1)))) - float64(z)) / 2
		if half != half || math.IsInf(half, 0) {
			continue
		}
		e := math.Ilogb(half)
		x, y := math.Ldexp(1, e/2), math.Ldexp(1, e-e/2)
		if r.IntN(2) == 0 {
			y = -y
		}
		// The first product leads to the midpoint. The others miss it by 2⁻⁴⁶ and by 2⁻³⁶ of the way, so
		// that the sum in float64 is the midpoint, and by one of the last places of its factors.
		for _, off := range [][2]float64{{1, 1}, {1 - 0x1p-23, 1 + 0x1p-23},
			{1 + 0x1p-12, 1 - 0x1p-12 + 0x1p-24}, {1, 1 + 0x1p-23}, {1, 1 - 0x1p-24}} {
			list = append(list, [3]float32{float32(x * off[0]), float32(y * off[1]), z})
		}
	}
	return list
}

// TestMultiplyAddRoundsOnce compares fma32 with math/big, and with the vector instructions of this
// processor.
func TestMultiplyAddRoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	list := hardSums(r, 200_000)
	slow, levels := 0, available()[1:]
	for range 200_000 {
		list = append(list, [3]float32{math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()),
			math.Float32frombits(r.Uint32())})
	}
	for _, v := range list {
		got, x, y, z := fma32(v[0], v[1], v[2]), v[0], v[1], v[2]
		if doubtful(float64(x)*float64(y) + float64(z)) {
			slow++
		}
		if sum := x*y + z; x-x == 0 && y-y == 0 && z-z == 0 {
			want := onceRounded(x, y, z)
			if got != want || want != 0 && math.Signbit(float64(got)) != math.Signbit(float64(want)) {
				t.Fatalf("fma32(%x, %x, %x) is %x, want %x", x, y, z, got, want)
			}
		} else if got != sum && (got == got || sum == sum) {
			t.Fatalf("fma32(%x, %x, %x) is %x, want %x", x, y, z, got, sum)
		}
		for _, level := range levels {
			one := [1]float32{z}
			level.axpy(x, []float32{y}, one[:])
			if math.Float32bits(one[0]) != math.Float32bits(got) && got == got {
				t.Fatalf("fma32(%x, %x, %x) is %x, with %s %x", x, y, z, got, level.name, one[0])
			}
		}
	}
	if slow < len(list)/10 {
		t.Errorf("%d of %d sums are doubtful: too few for a test", slow, len(list))
	}
	t.Logf("%d of %d sums are doubtful", slow, len(list))
}
