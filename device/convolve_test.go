package device

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// convolutions holds windows and numbers of maps for both algorithms.
var convolutions = []struct {
	w    Window
	maps int
}{
	{Window{Image{14, 14, 8}, 5, 1, 2}, 16},
	{Window{Image{14, 13, 16}, 5, 2, 2}, 33},
	{Window{Image{9, 7, 5}, 3, 2, 1}, 7},
	{Window{Image{6, 8, 12}, 4, 2, 1}, 40},
	{Window{Image{5, 5, 20}, 3, 3, 0}, 6},
	{Window{Image{4, 3, 6}, 2, 1, 3}, 5},
	{Window{Image{28, 28, 1}, 5, 1, 2}, 8},
	{Window{Image{9, 43, 1}, 3, 1, 0}, 21},
	{Window{Image{8, 8, 1}, 4, 1, 5}, 40},
	{Window{Image{6, 8, 8}, 3, 1, 1}, 8},
	{Window{Image{7, 9, 4}, 4, 1, 1}, 8},
	{Window{Image{5, 6, 16}, 3, 1, 0}, 9},
	{Window{Image{6, 5, 33}, 2, 1, 2}, 40},
}

// convolved holds the results of the three operations on random numbers.
type convolved struct{ forward, spread, sum Matrix }

func convolveWith(t *testing.T, c *cpu, w Window, maps, images int,
	turned bool) (v convolved) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(maps), 77))
	src, m := randomMatrix(r, images, w.Len(), 0), randomMatrix(r, images*w.Places(), maps, 0)
	weights := oriented(r, w.Patch(), maps, turned)
	v.forward, v.spread = c.New(images*w.Places(), maps), c.New(images, w.Len())
	v.sum = oriented(r, w.Patch(), maps, turned)
	if !c.Convolve(w, turned, src, weights, v.forward) ||
		!c.Spread(w, !turned, m, weights, v.spread) ||
		!c.AddConvolved(w, turned, src, m, v.sum) {
		t.Fatalf("%+v with %d maps has no fast algorithm", w, maps)
	}
	return v
}

// lowerWith computes the same results as convolveWith, but stores all patches.
func lowerWith(c *cpu, w Window, maps, images int, turned bool) (v convolved) {
	r := rand.New(rand.NewPCG(uint64(maps), 77))
	src, m := randomMatrix(r, images, w.Len(), 0), randomMatrix(r, images*w.Places(), maps, 0)
	weights := oriented(r, w.Patch(), maps, turned)
	patches := c.New(images*w.Places(), w.Patch())
	v.forward, v.spread = c.New(images*w.Places(), maps), c.New(images, w.Len())
	c.Im2Col(w, patches, src)
	c.Gemm(false, turned, 1, patches, weights, 0, v.forward)
	v.sum = oriented(r, w.Patch(), maps, turned)
	if turned {
		c.Gemm(true, false, 1, m, patches, 1, v.sum)
	} else {
		c.Gemm(true, false, 1, patches, m, 1, v.sum)
	}
	c.Gemm(false, !turned, 1, m, weights, 0, patches)
	c.Col2Im(w, v.spread, patches)
	return v
}

// TestConvolve compares the results of convolveWith and lowerWith. Convolve must have the same bits
// as products with patches. Spread and AddConvolved may add in another order.
func TestConvolve(t *testing.T) {
	for _, level := range available() {
		c := newCPU(2, level)
		for _, k := range convolutions {
			for _, turned := range []bool{false, true} {
				got, want := convolveWith(t, c, k.w, k.maps, 11, turned), lowerWith(c, k.w, k.maps, 11, turned)
				if !slices.Equal(got.forward.Data, want.forward.Data) {
					t.Errorf("%s: %+v, %d maps, turned %v: products differ", level.name, k.w, k.maps, turned)
				}
				for i, v := range got.spread.Data {
					if d := math.Abs(float64(v - want.spread.Data[i])); d > 2e-6*float64(k.maps*k.w.Size) {
						t.Fatalf("%s: %+v, %d maps, turned %v: pixel %d is %v, want %v", level.name, k.w, k.maps,
							turned, i, v, want.spread.Data[i])
					}
				}
				for i, v := range got.sum.Data {
					if d := math.Abs(float64(v - want.sum.Data[i])); d > 2e-6*float64(11*k.w.Places()) {
						t.Fatalf("%s: %+v, %d maps, turned %v: sum %d is %v, want %v", level.name, k.w, k.maps,
							turned, i, v, want.sum.Data[i])
					}
				}
			}
		}
	}
}

// TestGemmPacked checks that GemmPacked and Gemm give the same bits.
func TestGemmPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, level := range available() {
		c := newCPU(2, level)
		for range 30 {
			m, n, k := 1+r.IntN(300), 5+r.IntN(200), 1+r.IntN(1100)
			turned := r.IntN(2) == 0
			a, b := randomMatrix(r, m, k, r.IntN(3)), oriented(r, k, n, turned)
			p := c.Pack(turned, b)
			if p == nil {
				t.Fatal("Pack returned nil")
			}
			beta, got := float32(r.IntN(2)), randomMatrix(r, m, n, 0)
			want := HostMatrix(m, n, slices.Clone(got.Data))
			c.Gemm(false, turned, 1, a, b, beta, want)
			c.GemmPacked(a, p, beta, got)
			if !slices.Equal(got.Data, want.Data) {
				t.Fatalf("%s: %d×%d·%d×%d, turned %v, differs from Gemm", level.name, m, k, k, n, turned)
			}
		}
	}
}

// TestConvolveGaps checks that gaps between rows of operands and results do not change the bits.
func TestConvolveGaps(t *testing.T) {
	apart := func(r *rand.Rand, m Matrix, gap int) Matrix {
		to := randomMatrix(r, m.Rows, m.Cols, gap)
		for i := range m.Rows {
			copy(to.Row(i), m.Row(i))
		}
		return to
	}
	for _, level := range available() {
		c := newCPU(2, level)
		for _, k := range convolutions {
			r, n := rand.New(rand.NewPCG(5, 5)), 3*k.w.Places()
			src, m := randomMatrix(r, 3, k.w.Len(), 0), randomMatrix(r, n, k.maps, 0)
			weights, sum := randomMatrix(r, k.w.Patch(), k.maps, 0), c.New(k.w.Patch(), k.maps)
			forward, spread := c.New(n, k.maps), c.New(3, k.w.Len())
			c.Convolve(k.w, false, src, weights, forward)
			c.Spread(k.w, true, m, weights, spread)
			c.AddConvolved(k.w, false, src, m, sum)
			forward2, spread2 := randomMatrix(r, n, k.maps, 3), randomMatrix(r, 3, k.w.Len(), 5)
			sum2 := apart(r, c.New(k.w.Patch(), k.maps), 2)
			src, m, weights = apart(r, src, 1), apart(r, m, 2), apart(r, weights, 3)
			c.Convolve(k.w, false, src, weights, forward2)
			c.Spread(k.w, true, m, weights, spread2)
			c.AddConvolved(k.w, false, src, m, sum2)
			for i, pair := range [][2]Matrix{{forward, forward2}, {spread, spread2}, {sum, sum2}} {
				for row := range pair[0].Rows {
					if !slices.Equal(pair[0].Row(row), pair[1].Row(row)) {
						t.Fatalf("%s: %+v, %d maps: row %d of result %d depends on gaps", level.name, k.w,
							k.maps, row, i)
					}
				}
			}
		}
	}
}

// TestConvolveSameBits checks that all levels and numbers of workers give the same bits.
func TestConvolveSameBits(t *testing.T) {
	for _, k := range convolutions {
		var first *convolved
		for _, level := range available() {
			for _, workers := range []int{1, 2, 3} {
				v := convolveWith(t, newCPU(workers, level), k.w, k.maps, 19, false)
				if first == nil {
					first = &v
				}
				if !slices.Equal(v.sum.Data, first.sum.Data) ||
					!slices.Equal(v.forward.Data, first.forward.Data) ||
					!slices.Equal(v.spread.Data, first.spread.Data) {
					t.Errorf("%s with %d workers: %+v gives bits that differ from the first ones", level.name, workers, k.w)
				}
			}
		}
	}
}

// TestConvolveAlone checks that the results for an image do not depend on other images, even if
// these hold NaN or infinities.
func TestConvolveAlone(t *testing.T) {
	c := newCPU(2, fastest())
	for _, k := range convolutions {
		r, w := rand.New(rand.NewPCG(3, 3)), k.w
		src, weights := randomMatrix(r, 9, w.Len(), 0), randomMatrix(r, w.Patch(), k.maps, 0)
		m := randomMatrix(r, 9*w.Places(), k.maps, 0)
		for i := range src.Row(4) {
			src.Row(4)[i] = float32(math.NaN())
		}
		m.Row(4 * w.Places())[0] = float32(math.Inf(1))
		all, one := c.New(9*w.Places(), k.maps), c.New(w.Places(), k.maps)
		image, images := c.New(1, w.Len()), c.New(9, w.Len())
		c.Convolve(w, false, src, weights, all)
		c.Spread(w, true, m, weights, images)
		for _, i := range []int{3, 5} {
			c.Convolve(w, false, src.RowRange(i, i+1), weights, one)
			c.Spread(w, true, m.RowRange(i*w.Places(), (i+1)*w.Places()), weights, image)
			if !slices.Equal(one.Data, all.RowRange(i*w.Places(), (i+1)*w.Places()).Data[:len(one.Data)]) ||
				!slices.Equal(image.Data, images.Row(i)) {
				t.Errorf("%+v: image %d depends on others", w, i)
			}
		}
	}
}

func TestConvolveNoAllocation(t *testing.T) {
	c, k := newCPU(2, fastest()), convolutions[0]
	r := rand.New(rand.NewPCG(1, 1))
	src, m := randomMatrix(r, 20, k.w.Len(), 0), randomMatrix(r, 20*k.w.Places(), k.maps, 0)
	weights, sum := randomMatrix(r, k.w.Patch(), k.maps, 0), randomMatrix(r, k.w.Patch(), k.maps, 0)
	step := func() {
		c.Convolve(k.w, false, src, weights, m)
		c.Spread(k.w, true, m, weights, src)
		c.AddConvolved(k.w, false, src, m, sum)
	}
	for range 5 {
		step()
	}
	if n := testing.AllocsPerRun(20, step); n >= 1 {
		t.Errorf("%v allocations in a step, want 0", n)
	}
}

// BenchmarkConvolve reports the rate of floating-point operations on one core, for layers of
// generators of 28×28 images.
func BenchmarkConvolve(b *testing.B) {
	c := newCPU(1, fastest())
	for name, k := range map[string]struct {
		w    Window
		maps int
	}{
		"14x14x8from16":  {Window{Image{14, 14, 8}, 5, 1, 2}, 16},
		"28x28x1from8":   {Window{Image{28, 28, 1}, 5, 1, 2}, 8},
		"14x14x32from64": {Window{Image{14, 14, 32}, 3, 1, 1}, 64},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		src, m := randomMatrix(r, 100, k.w.Len(), 0), randomMatrix(r, 100*k.w.Places(), k.maps, 0)
		weights, sum := randomMatrix(r, k.w.Patch(), k.maps, 0), randomMatrix(r, k.w.Patch(), k.maps, 0)
		for what, do := range map[string]func(){
			"convolve": func() { c.Convolve(k.w, false, src, weights, m) },
			"spread":   func() { c.Spread(k.w, true, m, weights, src) },
			"gradient": func() { c.AddConvolved(k.w, false, src, m, sum) },
		} {
			b.Run(name+"/"+what, func(b *testing.B) {
				for b.Loop() {
					do()
				}
				flops := 2 * float64(100*k.w.Places()*k.w.Patch()*k.maps)
				b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// TestBilinearVectors checks that the vector kernels give the same bits as the portable loops.
func TestBilinearVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, m := range []Image{{7, 7, 16}, {14, 14, 8}, {1, 1, 8}, {2, 3, 24}, {1, 5, 8}, {5, 2, 8}} {
		small, large := randomMatrix(r, 9, m.Len(), 0), randomMatrix(r, 9, 4*m.Len(), 0)
		var first [2]Matrix
		for _, level := range available() {
			c := newCPU(2, level)
			up, down := c.New(9, 4*m.Len()), c.New(9, m.Len())
			c.UpSample(m, up, small)
			c.UpSampleGradient(m, down, large)
			if first[0].Data == nil {
				first = [2]Matrix{up, down}
			}
			if !slices.Equal(up.Data, first[0].Data) || !slices.Equal(down.Data, first[1].Data) {
				t.Errorf("%s: %+v differs from portable loops", level.name, m)
			}
		}
	}
}

// TestNormalizeSameBits checks that all levels and numbers of workers give the same bits.
func TestNormalizeSameBits(t *testing.T) {
	for _, shape := range [][2]int{{1, 8}, {3, 5}, {700, 16}, {5000, 19}, {2100, 40}} {
		var first []float32
		for _, level := range available() {
			for _, workers := range []int{1, 2, 3} {
				c, r := newCPU(workers, level), rand.New(rand.NewPCG(7, 7))
				m, delta := randomMatrix(r, shape[0], shape[1], 0), randomMatrix(r, shape[0], shape[1], 0)
				rows := func(n int) Matrix { return randomMatrix(r, n, shape[1], 0) }
				stats, gain, shift, dGain, dShift := rows(2), rows(1), rows(1), rows(1), rows(1)
				c.Moments(stats, m, 1e-5)
				c.NormalizeGradient(delta, m, stats, gain, dGain, dShift)
				c.Normalize(m, m, stats, gain, shift)
				got := slices.Concat(stats.Data, delta.Data, m.Data, dGain.Data, dShift.Data)
				if first == nil {
					first = got
				}
				if !slices.Equal(got, first) {
					t.Errorf("%s with %d workers gives different bits for %v", level.name, workers, shape)
				}
			}
		}
	}
}
