package device_test

import (
	"math"
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
