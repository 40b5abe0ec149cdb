package device

import (
	"math"
	"slices"
	"testing"
)

// TestHostRowsSameBits checks that operations on rows of host memory give the bits of the portable
// kernels at every level, special values included, whatever the other rows hold.
func TestHostRowsSameBits(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)),
		float32(math.Inf(-1)), float32(math.NaN()), 1e-40, math.MaxFloat32}
	portable := newCPU(1, generic())
	for _, level := range available()[1:] {
		c := newCPU(1, level)
		for width := 1; width < 45; width++ {
			x, y, d := spread(4*width, 1), spread(4*width, 2), spread(4*width, 3)
			for i, v := range special {
				x[(7*i)%width] = v // in the first row
				y[width+(5*i)%width] = v
			}
			copy(y[2*width:], x[2*width:3*width])
			for name, do := range map[string]func(c *cpu) [][]float32{
				"Raise": func(c *cpu) [][]float32 {
					dst := slices.Clone(y)
					c.Raise(dst, x)
					return [][]float32{dst}
				},
				"GiveEqual": func(c *cpu) [][]float32 {
					dx, left := slices.Clone(d), slices.Clone(d)
					c.GiveEqual(dx, left, x, y)
					return [][]float32{dx, left}
				},
				"Softmax": func(c *cpu) [][]float32 {
					dst := slices.Clone(d)
					c.Softmax(HostMatrix(4, width, dst).Slice(0, 3, width/3, width)) // rows with gaps
					return [][]float32{dst}
				},
				"SoftmaxGradient": func(c *cpu) [][]float32 {
					dst, part := slices.Clone(y), slices.Clone(y)
					c.SoftmaxGradient(HostMatrix(4, width, x), HostMatrix(4, width, dst))
					c.SoftmaxGradient(HostMatrix(4, width, x).Slice(0, 3, 0, width-width/3),
						HostMatrix(4, width, part).Slice(0, 3, width/3, width))
					return [][]float32{dst, part}
				},
				"Standardize": func(c *cpu) [][]float32 {
					dst, dx := make([]float32, len(x)), slices.Clone(d)
					c.Standardize(width, float64(min(width%3, 1)), 1e-5, dst, x)
					c.StandardizeGradient(width, float64(min(width%3, 1)), 1e-5, dx, y, dst, x)
					return [][]float32{dst, dx}
				},
			} {
				want, got := do(portable), do(c)
				for k := range want {
					for i, w := range want[k] {
						if v := got[k][i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
							t.Fatalf("%s, %s: number %d of rows of %d is %v, want %v", level.name, name, i,
								width, v, w)
						}
					}
				}
			}
		}
	}
}

// TestSoftmaxOfSpecialRows checks that NaN spreads over its row and over no other, wherever it is.
func TestSoftmaxOfSpecialRows(t *testing.T) {
	for _, level := range available() {
		for width := 1; width < 40; width++ {
			for at := range width {
				m := HostMatrix(3, width, spread(3*width, 4))
				m.Row(1)[at] = float32(math.NaN())
				newCPU(1, level).Softmax(m)
				for i, v := range m.Data {
					if (v != v) != (i/width == 1) {
						t.Fatalf("%s: number %d of rows of %d is %v", level.name, i, width, v)
					}
				}
			}
		}
	}
}
