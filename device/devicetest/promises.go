package devicetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// testPromises checks the promises that the backend makes. A backend without promises passes.
func testPromises(t *testing.T, b device.Backend) {
	p := device.PromisesOf(b)
	for name, op := range rowOps(b) {
		for _, rows := range []int{2, 5, 17, 64, 300} {
			x := rowNumbers(rows, rowWidth)
			whole := op(b, x, rows)
			if p.SameBits {
				sameRow(t, name+" again", whole, op(b, x, rows), 0, 0, rows)
			}
			if !p.RowsAlone {
				continue
			}
			each := len(whole) / rows
			for _, i := range []int{0, 1, rows / 2, rows - 1} {
				alone := op(b, x[i*rowWidth:(i+1)*rowWidth], 1)
				sameRow(t, name+" of one row", whole[i*each:], alone, i, 0, 1)
			}
			less := op(b, x[rowWidth:], rows-1) // every row moves up by one
			sameRow(t, name+" without the first row", whole[each:], less, 1, 0, rows-1)
		}
	}
}

func sameRow(t *testing.T, what string, a, b []float64, i, j, rows int) {
	t.Helper()
	for k := range len(b) / max(rows, 1) * rows {
		if math.Float64bits(a[k]) != math.Float64bits(b[k]) {
			t.Fatalf("%s: number %d from row %d on is %v, but %v from row %d on", what, k, i, a[k],
				b[k], j)
		}
	}
}

const rowWidth = 48

func rowNumbers(rows, cols int) []float32 {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// A rowOp calls methods of a backend with an operand of rows×rowWidth numbers, and returns a result
// that has the same number of rows.
type rowOp func(b device.Backend, x []float32, rows int) []float64

func rowOps(b device.Backend) map[string]rowOp {
	ops := map[string]rowOp{
		"RowSquaredNorms": func(b device.Backend, x []float32, rows int) []float64 {
			dst := make([]float64, rows)
			b.RowSquaredNorms(dst, put(b, x, rows, rowWidth))
			return dst
		},
		"RowDots": func(b device.Backend, x []float32, rows int) []float64 {
			dst := make([]float64, rows)
			m := put(b, x, rows, rowWidth)
			b.RowDots(dst, m.Slice(0, rows, 0, 20), m.Slice(0, rows, 20, 40))
			return dst
		},
		"BlockProductNorms": func(b device.Backend, x []float32, rows int) []float64 {
			dst := make([]float64, rows)
			m := put(b, x, rows*4, rowWidth/4)
			b.BlockProductNorms(dst, 4, m, m)
			return dst
		},
		"Softmax": inPlace(func(m device.Matrix) { b.Softmax(m) }),
		"CosSin": func(b device.Backend, x []float32, rows int) []float64 {
			out := b.New(rows, 2*rowWidth)
			b.CosSin(out, put(b, x, rows, rowWidth), .5)
			return get(b, out)
		},
		"Im2Col": func(b device.Backend, x []float32, rows int) []float64 {
			w := device.Window{Image: device.Image{Height: 4, Width: 4, Channels: 3}, Size: 3,
				Stride: 1, Pad: 1}
			out := b.New(rows*w.Places(), w.Patch())
			b.Im2Col(w, out, put(b, x, rows, rowWidth))
			back := b.New(rows, rowWidth)
			b.Col2Im(w, back, out)
			return get(b, back)
		},
		"Convolve": func(b device.Backend, x []float32, rows int) []float64 {
			w := device.Window{Image: device.Image{Height: 2, Width: 2, Channels: 12}, Size: 2,
				Stride: 1, Pad: 1}
			return convolved(b, w, 7, x, rows)
		},
		"Convolve of grey images": func(b device.Backend, x []float32, rows int) []float64 {
			w := device.Window{Image: device.Image{Height: 6, Width: 8, Channels: 1}, Size: 3,
				Stride: 1, Pad: 1}
			return convolved(b, w, 8, x, rows)
		},
		"UpSample": func(b device.Backend, x []float32, rows int) []float64 {
			m := device.Image{Height: 4, Width: 4, Channels: 3}
			out, back := b.New(rows, m.Doubled().Len()), b.New(rows, rowWidth)
			b.UpSample(m, out, put(b, x, rows, rowWidth))
			b.UpSampleGradient(m, back, out)
			return get(b, back)
		},
		"Normalize": func(b device.Backend, x []float32, rows int) []float64 {
			out := b.New(rows, rowWidth)
			b.Normalize(out, put(b, x, rows, rowWidth), put(b, rowNumbers(2, rowWidth), 2,
				rowWidth), put(b, rowNumbers(1, rowWidth), 1, rowWidth), b.New(1, rowWidth))
			return get(b, out)
		},
		"ScaleRows": inPlace(func(m device.Matrix) {
			w := make([]float32, m.Rows)
			for i := range w {
				w[i] = .3
			}
			b.ScaleRows(m, w)
		}),
		"SparseGemm": sparseRows,
	}
	for f := device.Identity; f <= device.Log; f++ {
		ops[fmt.Sprintf("BiasApply and Gradient of function %d",
			f)] = inPlace(func(m device.Matrix) {
			delta := b.New(m.Rows, m.Cols)
			b.Apply(device.Identity, delta, m)
			b.BiasApply(f, m, put(b, rowNumbers(1, rowWidth), 1, rowWidth))
			b.Gradient(f, delta, m)
			b.Axpy(.5, delta, m)
		})
	}
	for _, n := range []int{1, 2, 4, 5, 33, 200} {
		for _, transB := range []bool{false, true} {
			ops[fmt.Sprintf("Gemm, %d columns, B transposed: %v", n,
				transB)] = func(b device.Backend, x []float32, rows int) []float64 {
				w := put(b, rowNumbers(rowWidth, n), rowWidth, n)
				if transB {
					w = put(b, rowNumbers(rowWidth, n), n, rowWidth)
				}
				out := b.New(rows, n)
				b.Gemm(false, transB, 1, put(b, x, rows, rowWidth), w, 0, out)
				return get(b, out)
			}
		}
	}
	return ops
}

// convolved returns a convolution of images of rowWidth numbers, by Convolve if the backend has a
// fast algorithm for the window, followed by its transpose.
func convolved(b device.Backend, w device.Window, maps int, x []float32, rows int) []float64 {
	images := put(b, x, rows, rowWidth)
	weights := put(b, rowNumbers(w.Patch(), maps), w.Patch(), maps)
	out, back := b.New(rows*w.Places(), maps), b.New(rows, rowWidth)
	c, ok := b.(device.Convolver)
	if !ok || !c.Convolve(w, false, images, weights, out) {
		patches := b.New(rows*w.Places(), w.Patch())
		b.Im2Col(w, patches, images)
		b.Gemm(false, false, 1, patches, weights, 0, out)
	}
	if !ok || !c.Spread(w, true, out, weights, back) {
		return get(b, out)
	}
	b.Axpy(1, images, back)
	return get(b, back)
}

func inPlace(f func(m device.Matrix)) rowOp {
	return func(b device.Backend, x []float32, rows int) []float64 {
		m := put(b, x, rows, rowWidth)
		f(m)
		return get(b, m)
	}
}

// sparseRows multiplies sparse rows: the items of a row are the positions of its positive numbers.
func sparseRows(b device.Backend, x []float32, rows int) []float64 {
	s := &device.Sparse{Cols: rowWidth, Offsets: []int{0}}
	for i := range rows {
		for k, v := range x[i*rowWidth : (i+1)*rowWidth] {
			if v > 0 {
				s.Items = append(s.Items, uint32(k))
			}
		}
		s.Offsets = append(s.Offsets, len(s.Items))
	}
	out := b.New(rows, 37)
	b.SparseGemm(s, put(b, rowNumbers(rowWidth, 37), rowWidth, 37), 0, out)
	return get(b, out)
}

func put(b device.Backend, x []float32, rows, cols int) device.Matrix {
	m := b.New(rows, cols)
	b.Upload(m, x[:rows*cols])
	return m
}

func get(b device.Backend, m device.Matrix) []float64 {
	host := make([]float32, m.Rows*m.Cols)
	b.Download(host, m)
	wide := make([]float64, len(host))
	for i, v := range host {
		wide[i] = float64(v)
	}
	return wide
}

// testFixed checks the sums of a device.FixedSummer against sums of integers.
func testFixed(t *testing.T, b device.Backend) {
	f, ok := device.FixedSums(b)
	if !ok {
		t.Skip("the backend has no sums in fixed point")
	}
	const unit, chain = 0x1p-16, 50
	for _, size := range [][3]int{{1, 1, 1}, {60, 3, 40}, {333, 64, 7}, {700, 130, 50}} {
		rows, in, out := size[0], size[1], size[2]
		x, d, w := fixedNumbers(rows*in), fixedNumbers(rows*out), fixedNumbers(rows)
		for i := range w {
			w[i] = device.Odd(w[i])
		}
		scaled := b.New(rows, in)
		f.ScaleOdd(scaled, put(b, x, rows, in), w)
		a := get(b, scaled)
		sum := device.NewFixed(b, device.Shape{Rows: in, Cols: out}, device.Shape{Rows: 1, Cols: out})
		sum.Unit, sum.Chain, sum.Limit = unit, chain, 1
		f.AddFixedProduct(scaled, put(b, d, rows, out), sum.Block(0))
		f.AddFixedRows(w, put(b, d, rows, out), sum.Block(1))
		units := unitsOf(sum)
		for k := range in + 1 {
			for j := range out {
				want := int32(0)
				for i := range rows {
					factor := float64(w[i])
					if k < in {
						factor = a[i*in+k]
					}
					want += int32(math.RoundToEven(factor * float64(d[i*out+j]) / unit))
				}
				if got := units[k*out+j]; got != want {
					t.Fatalf("%v: element %d,%d is %d units, want %d", size, k, j, got, want)
				}
			}
		}
	}
}

// testFixedAlone checks, bit by bit, that sums in fixed point are sums of integers that depend on
// one record each: the sum of a batch is the sum of its records' own sums, in any order of the
// records and for any other records.
func testFixedAlone(t *testing.T, b device.Backend) {
	f, ok := device.FixedSums(b)
	if !ok {
		t.Skip("the backend has no sums in fixed point")
	}
	const rows, block, in, out = 70, 3, 45, 38
	x := terms{fixedNumbers(rows * block * in), fixedNumbers(rows * block * out), fixedNumbers(rows)}
	for i := range x.w {
		x.w[i] = device.Odd(x.w[i])
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for name, add := range fixedOps(f, block, in, out) {
		sumOf := func(list []int, chain int) []int32 {
			sum := device.NewFixed(b, device.Shape{Rows: in, Cols: out})
			sum.Unit, sum.Chain, sum.Limit = 0x1p-18, chain, 1
			add(x.pick(list, block, in, out), len(list), sum.Block(0))
			return unitsOf(sum)
		}
		own := make([][]int32, rows)
		for i := range own {
			own[i] = sumOf([]int{i}, 1)
		}
		for chain := 1; chain < 16; chain += 3 {
			list := rng.Perm(rows)[:rows-chain]
			got, want, some := sumOf(list, chain), make([]int32, in*out), false
			for _, i := range list {
				for k, v := range own[i] {
					want[k] += v
				}
			}
			for k, v := range want {
				if some = some || v != 0; got[k] != v {
					t.Fatalf("%s: element %d of %d records is %d units, want %d, the sum of the records' own",
						name, k, len(list), got[k], v)
				}
			}
			if !some {
				t.Fatalf("%s: all sums are zero", name)
			}
		}
	}
}

// terms are operands of fixedOps: rows of both factors, and a weight for each record.
type terms struct{ a, d, w []float32 }

func (r terms) pick(list []int, block, in, out int) (p terms) {
	for _, i := range list {
		p.a = append(p.a, r.a[i*block*in:(i+1)*block*in]...)
		p.d = append(p.d, r.d[i*block*out:(i+1)*block*out]...)
		p.w = append(p.w, r.w[i])
	}
	return p
}

// fixedOps returns functions that add records to an in×out block in each of the ways that a
// FixedSummer has. In some, a record has only its first row.
func fixedOps(f device.FixedSummer, block, in,
	out int) map[string]func(x terms, rows int, sum device.FixedBlock) {
	first := func(x []float32, rows, cols int) device.Matrix {
		return put(f, x, rows, block*cols).Slice(0, rows, 0, cols)
	}
	odd := func(x terms, rows int) device.Matrix {
		m := f.New(rows, out)
		f.ScaleOdd(m, first(x.d, rows, out), x.w)
		return m
	}
	return map[string]func(x terms, rows int, sum device.FixedBlock){
		"AddFixedProduct": func(x terms, rows int, sum device.FixedBlock) {
			f.AddFixedProduct(first(x.a, rows, in), odd(x, rows), sum)
		},
		"AddFixedSparse": func(x terms, rows int, sum device.FixedBlock) {
			s := &device.Sparse{Cols: in, Offsets: []int{0}}
			for i := range rows { // every third item is listed twice, not in order
				for k := range in {
					if v := x.a[i*block*in+k]; v > 0 {
						s.Items = append(s.Items, uint32(k), uint32(k/3*3))
					}
				}
				s.Offsets = append(s.Offsets, len(s.Items))
			}
			f.AddFixedSparse(s, odd(x, rows), sum)
		},
		"AddFixedRows": func(x terms, rows int, sum device.FixedBlock) {
			sum.Rows, sum.Cols = 1, in*out
			wide := f.New(rows, in*out)
			f.Apply(device.Identity, wide.Slice(0, rows, 0, in), first(x.a, rows, in))
			f.Apply(device.Identity, wide.Slice(0, rows, in*out-out, in*out), first(x.d, rows, out))
			f.AddFixedRows(x.w, wide, sum)
		},
		"AddFixedBlocks": func(x terms, rows int, sum device.FixedBlock) {
			for i := range rows {
				if x.a[i*block*in] < 0 { // left out, whatever it holds
					x.w[i], x.a[i*block*in] = 0, float32(math.NaN())
				}
			}
			f.AddFixedBlocks(x.w, block, put(f, x.a, rows*block, in), put(f, x.d, rows*block, out), sum)
		},
	}
}

// unitsOf returns the units of a sum and sets them to zero.
func unitsOf(sum device.Fixed) []int32 {
	host := device.NewFixed(device.CPU(), sum.Shapes...)
	host.Unit = sum.Unit
	host.Take(sum, 0, len(host.Units))
	return host.Units
}

// fixedNumbers returns numbers of many magnitudes up to 1.
func fixedNumbers(n int) []float32 {
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((2*rng.Float64() - 1) * math.Exp2(-float64(rng.IntN(20))))
	}
	return x
}
