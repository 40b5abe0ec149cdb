package devicetest

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// sets returns rows of up to eleven items each. The first row is empty.
func (x *bench) sets(rows, cols int) *device.Sparse {
	s := &device.Sparse{Cols: cols, Offsets: []int{0}}
	for i := range rows {
		if i > 0 && cols > 0 {
			for range x.r.IntN(12) {
				s.Items = append(s.Items, uint32(x.r.IntN(cols)))
			}
		}
		s.Offsets = append(s.Offsets, len(s.Items))
	}
	return s
}

func testSparse(t *testing.T, b device.Backend) {
	x := newBench(t, b, 3)
	for range 80 {
		rows, cols, wide := x.size(60), x.size(50), x.size(150)
		whole := x.sets(rows+2, cols)
		s := whole.Slice(1, rows+1)
		beta := factors[x.r.IntN(4)]

		w, c := x.matrix(cols, wide), x.matrix(rows, wide)
		x.b.SparseGemm(s, w.m, beta, c.m)
		c.want(x, "SparseGemm", func(i, j int) (float64, float64) {
			items := s.Row(i)
			return dot(len(items), 1, float64(beta)*c.at(i, j), func(l int) (float64, float64) {
				return 1, w.at(int(items[l]), j)
			})
		})
		w.unchanged(x, "SparseGemm")

		d, g := x.matrix(rows, wide), x.matrix(cols, wide)
		x.b.SparseGemmT(s, d.m, beta, g.m)
		counts := make([]map[int]int, cols) // for each item, the number of times that each row lists it
		for i := range rows {
			for _, item := range s.Row(i) {
				if counts[item] == nil {
					counts[item] = map[int]int{}
				}
				counts[item][i]++
			}
		}
		g.want(x, "SparseGemmT", func(i, j int) (float64, float64) {
			value, size := float64(beta)*g.at(i, j), 0.0
			for row, n := range counts[i] {
				value += float64(n) * d.at(row, j)
				size += float64(n) * abs(d.at(row, j))
			}
			return value, rounding(2*rows, size+abs(g.at(i, j)))
		})
	}
}
