package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// candidate is a function to time. One run of it processes unit numbers or rows.
type candidate struct {
	name string
	unit int
	run  func()
}

// medians times candidates in turn and returns nanoseconds for each unit.
func medians(candidates []candidate, samples int, clock func() float64) []float64 {
	seconds := make([][]float64, len(candidates))
	times := make([]int, len(candidates))
	for i, c := range candidates {
		start := clock()
		c.run()
		c.run()
		times[i] = max(int(2e-3/max((clock()-start)/2, 1e-7)), 1)
	}
	for range samples {
		for i, c := range candidates {
			start := clock()
			for range times[i] {
				c.run()
			}
			seconds[i] = append(seconds[i], (clock()-start)/float64(times[i]))
		}
	}
	out := make([]float64, len(candidates))
	for i, s := range seconds {
		slices.Sort(s)
		out[i] = 1e9 * s[len(s)/2] / float64(candidates[i].unit)
	}
	return out
}

// functions times element-wise functions and reductions over operands that stay in the first-level
// cache.
func functions(b device.Backend, samples int, clock func() float64) {
	const n = 2048
	x, y, z, two := random(1, n, false), random(1, n, false), random(1, n, false),
		random(1, 2*n, false)
	moment, norms := b.New(1, n), make([]float64, 1)
	var list []candidate
	for f := device.ReLU; f <= device.Log; f++ {
		list = append(list,
			candidate{f.String(), n, func() { b.Apply(f, y, x) }},
			candidate{f.String() + " derivative", n, func() { b.Gradient(f, z, x) }})
	}
	step := device.AdamStep{LR: 1e-9, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, T: 1}
	list = append(list,
		candidate{"cos and sin", n, func() { b.CosSin(two, x, 1) }},
		candidate{"axpy", n, func() { b.Axpy(1e-9, x, y) }},
		candidate{"squared norm", n, func() { b.RowSquaredNorms(norms, x) }},
		candidate{"dot", n, func() { b.RowDots(norms, x, y) }},
		candidate{"adam", n, func() { b.Adam(y, x, z, moment, step) }})
	for i, ns := range medians(list, samples, clock) {
		fmt.Printf("%-22s %7.3f ns per number\n", list[i].name, ns)
	}
}

// features times random Fourier features, of dense rows and of sets, against products alone.
func features(b device.Backend, samples int, clock func() float64) {
	const rows, frequencies = 512, 5000
	fmt.Printf("%d frequencies, microseconds per row\n", frequencies)
	x, w, out := random(rows, 784, false), random(784, frequencies, false), b.New(rows, 2*frequencies)
	left := out.Slice(0, rows, 0, frequencies)
	items, wi := random(rows, 1303, false), random(1303, frequencies, false)
	sets := randomSets(rows, 1303, 11)
	list := []candidate{
		{"dense product", rows, func() { b.Gemm(false, false, 1, x, w, 0, left) }},
		{"dense features", rows, func() { featureBlocks(b, x, w, out) }},
		{"1303 items, dense", rows, func() { featureBlocks(b, items, wi, out) }},
		{"1303 items, 11 ones", rows, func() { sparseBlocks(b, sets, wi, out) }},
	}
	ns := medians(list, samples, clock)
	for i, v := range ns {
		fmt.Printf("%-22s %8.2f\n", list[i].name, v/1e3)
	}
	fmt.Printf("time of features ÷ time of product: %.3f; speed-up for sparse rows: %.1f\n", ns[1]/ns[0], ns[2]/ns[3])
}

// featureRows is the number of rows in a piece. The products and cosines of a piece are computed
// together, so that they stay in the second-level cache.
const featureRows = 512

func featureBlocks(b device.Backend, x, w, out device.Matrix) {
	for lo := 0; lo < x.Rows; lo += featureRows {
		hi := min(lo+featureRows, x.Rows)
		left := out.Slice(lo, hi, 0, w.Cols)
		b.Gemm(false, false, 1, x.RowRange(lo, hi), w, 0, left)
		b.CosSin(out.RowRange(lo, hi), left, 0.01)
	}
}

func sparseBlocks(b device.Backend, s *device.Sparse, w, out device.Matrix) {
	const some = 16
	for lo := 0; lo < s.Rows(); lo += some {
		hi := min(lo+some, s.Rows())
		left := out.Slice(lo, hi, 0, w.Cols)
		b.SparseGemm(s.Slice(lo, hi), w, 0, left)
		b.CosSin(out.RowRange(lo, hi), left, 0.01)
	}
}

// randomSets returns rows of random items; popular items occur more often.
func randomSets(rows, items, ones int) *device.Sparse {
	r := rand.New(rand.NewPCG(1, 2))
	s := &device.Sparse{Cols: items, Offsets: []int{0}}
	for range rows {
		for range ones {
			s.Items = append(s.Items, uint32(float64(items)*r.Float64()*r.Float64()))
		}
		s.Offsets = append(s.Offsets, len(s.Items))
	}
	return s
}
