package device_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestBlockProductNormsOfTinyNumbers checks that norms are upper bounds for tiny numbers. The
// square of a number below 2⁻⁷⁵ is zero in float32, but the products of such numbers with large
// numbers may have norms that must be clipped.
func TestBlockProductNormsOfTinyNumbers(t *testing.T) {
	be := device.CPU()
	// by Gram matrices, and by the product
	for _, shape := range []struct{ block, in, out int }{{2, 30, 30}, {30, 2, 2}} {
		for _, size := range [][2]float64{{0x1p55, 0x1p-78}, {0x1p-78, 0x1p55}, {0x1p50, 0x1.3p-75},
			{0x1p-70, 0x1.7p-79}, {0x1p-75, 0x1p-75}} {
			a, d := be.New(shape.block, shape.in), be.New(shape.block, shape.out)
			be.Fill(a, float32(size[0]))
			be.Fill(d, float32(size[1]))
			got := make([]float64, 1)
			be.BlockProductNorms(got, shape.block, a, d)
			norm := float64(shape.block) * size[0] * size[1] * math.Sqrt(float64(shape.in*shape.out))
			if got[0] < norm*norm {
				t.Errorf("%v of %v: squared norm %v, less than %v", shape, size, got[0], norm*norm)
			}
		}
	}
}

// TestBlockProductNormsHaveRoomForRounding checks the room above the exact norm, for small whole
// numbers, which no product rounds. It must be enough for both the rounding of the computation of
// the norm, by Gram matrices, and that of the product in float32 that is added to a sum: a relative
// error of (k+8)·2⁻²⁴ in each sum of k products.
func TestBlockProductNormsHaveRoomForRounding(t *testing.T) {
	be := device.CPU()
	rng := rand.New(rand.NewPCG(7, 8))
	for _, shape := range []struct{ block, in, out int }{{2, 30, 30}, {49, 200, 150}, {196, 800, 300},
		{30, 2, 2}, {784, 25, 8}} {
		a, d := be.New(shape.block, shape.in), be.New(shape.block, shape.out)
		for _, m := range []device.Matrix{a, d} {
			for i := range m.Data {
				m.Data[i] = float32(rng.IntN(5) - 2)
			}
		}
		got, product, sizes := make([]float64, 1), make([]float64, shape.in*shape.out), 0.0
		be.BlockProductNorms(got, shape.block, a, d)
		for r := range shape.block {
			x, y := a.Data[r*a.Stride:][:shape.in], d.Data[r*d.Stride:][:shape.out]
			xx, yy := 0.0, 0.0
			for i, v := range x {
				xx += float64(v * v)
				for k, w := range y {
					product[i*shape.out+k] += float64(v * w)
				}
			}
			for _, w := range y {
				yy += float64(w * w)
			}
			sizes += math.Sqrt(xx * yy)
		}
		exact := 0.0
		for _, v := range product {
			exact += v * v
		}
		rounds := func(k int) float64 { return float64(k+8) * 0x1p-24 * sizes }
		room := 2 * rounds(shape.block) * math.Sqrt(exact)
		if shape.block*(shape.in+shape.out) <= shape.in*shape.out { // by Gram matrices
			room = (rounds(shape.in) + rounds(shape.out) + 2*rounds(shape.block)) * sizes
		}
		if got[0] < exact+room*(1-1e-9) {
			t.Errorf("%v: squared norm %v, %v above the exact one, want %v", shape, got[0], got[0]-exact, room)
		}
	}
}
