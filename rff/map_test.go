package rff_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

func kernels(dim int, phase bool) map[string]rff.Kernel {
	return map[string]rff.Kernel{"rbf": rff.RBF{Dim: dim, Bandwidth: 2, Phase: phase}}
}

func newMap(t testing.TB, k rff.Kernel, in int, seed uint64) *rff.Map {
	t.Helper()
	return must(k.New(in, seed))(t)
}

func dense(rows, cols int, data []float32) device.Batch {
	return device.Batch{Rows: rows,
		Dense: device.Matrix{Rows: rows, Cols: cols, Stride: cols, Data: data}}
}

func transform(m *rff.Map, b device.Batch) device.Matrix {
	be := device.CPU()
	out := be.New(b.Rows, m.Dim())
	m.Transform(be, b, out)
	return out
}

// norm computes the norm of float32 features in float64, as a private sum does for clipping.
func norm(row []float32) float64 {
	var s float64
	for _, v := range row {
		s += float64(v) * float64(v)
	}
	return math.Sqrt(s)
}

func randomBits(rng *rand.Rand, n int, p float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		if rng.Float64() < p {
			x[i] = 1
		}
	}
	return x
}

func TestNormNeverExceedsItsBound(t *testing.T) {
	const in, rows = 37, 64
	inputs := map[string]func(rng *rand.Rand) float32{
		"zero":     func(*rand.Rand) float32 { return 0 },
		"binary":   func(r *rand.Rand) float32 { return float32(r.IntN(2)) },
		"unit":     func(r *rand.Rand) float32 { return r.Float32() },
		"tiny":     func(r *rand.Rand) float32 { return r.Float32() * 1e-30 },
		"thousand": func(r *rand.Rand) float32 { return float32(r.NormFloat64() * 1e3) },
		"million":  func(r *rand.Rand) float32 { return float32(r.NormFloat64() * 1e6) },
		"2^40":     func(r *rand.Rand) float32 { return float32(r.NormFloat64() * (1 << 40)) },
		"1e25":     func(r *rand.Rand) float32 { return float32(r.NormFloat64() * 1e25) },
		"powers":   func(r *rand.Rand) float32 { return float32(math.Ldexp(1, r.IntN(60)-30)) },
	}
	for _, phase := range []bool{false, true} {
		for _, dim := range []int{2, 10, 200, 1000} {
			for name, k := range kernels(dim, phase) {
				m := newMap(t, k, in, 5)
				for kind, draw := range inputs {
					rng := rand.New(rand.NewPCG(1, 2))
					x := make([]float32, rows*in)
					for i := range x {
						x[i] = draw(rng)
					}
					out := transform(m, dense(rows, in, x))
					for i := range rows {
						n := norm(out.Row(i))
						if !(n <= m.NormBound()) {
							t.Fatalf("%s, phase %v, dim %d, %s input: norm %v exceeds %v", name, phase, dim, kind, n,
								m.NormBound())
						}
						if !phase && n < 1-1e-5 {
							t.Fatalf("%s, dim %d, %s input: norm %v, want 1", name, dim, kind, n)
						}
					}
				}
			}
		}
	}
}

// TestOverflowIsNotFinite checks the row of a record whose projection overflows. The row must not
// be finite, or it must satisfy the norm bound.
func TestOverflowIsNotFinite(t *testing.T) {
	m := newMap(t, rff.RBF{Dim: 20, Bandwidth: 1e-3}, 8, 1)
	x := slices.Repeat([]float32{math.MaxFloat32}, 8)
	x[7] = float32(math.NaN())
	n := norm(transform(m, dense(1, 8, x)).Row(0))
	if n <= 1 || math.IsNaN(n) {
		return
	}
	t.Fatalf("norm %v, want at most 1 or NaN", n)
}

// climb flips single bits of x until no flip makes the norm larger.
func climb(m *rff.Map, in int, x []float32) float64 {
	best := norm(transform(m, dense(1, in, x)).Row(0))
	for improved := true; improved; {
		improved = false
		trials := make([]float32, 0, in*in)
		for i := range in {
			y := slices.Clone(x)
			y[i] = 1 - y[i]
			trials = append(trials, y...)
		}
		out := transform(m, dense(in, in, trials))
		for i := range in {
			if n := norm(out.Row(i)); n > best {
				best, improved = n, true
				copy(x, trials[i*in:(i+1)*in])
			}
		}
	}
	return best
}

// TestGreedySearchForLargeNorms searches for records of large norm. It must find none above norm 1
// for paired features. With random phases about half of all records have a norm above 1, but the
// norm must not exceed √2.
func TestGreedySearchForLargeNorms(t *testing.T) {
	const in, dim = 96, 60
	rng := rand.New(rand.NewPCG(3, 4))
	paired := newMap(t, rff.RBF{Dim: dim, Bandwidth: 3}, in, 8)
	phased := newMap(t, rff.RBF{Dim: dim, Bandwidth: 3, Phase: true}, in, 8)
	above := 0
	for range 200 {
		if norm(transform(phased, dense(1, in, randomBits(rng, in, 0.3))).Row(0)) > 1 {
			above++
		}
	}
	if above < 50 || above > 150 {
		t.Errorf("with phases %d of 200 records have a norm above 1, want about half", above)
	}
	for range 3 {
		if n := climb(paired, in, randomBits(rng, in, 0.3)); n > 1 {
			t.Errorf("paired features: a record has norm %v, want at most 1", n)
		}
		n := climb(phased, in, randomBits(rng, in, 0.3))
		if n < 1.15 || n > phased.NormBound() {
			t.Errorf("phases: the search ends at norm %v, want one in [1.15, √2]", n)
		}
	}
}

func TestSparseEqualsDense(t *testing.T) {
	const in, rows = 50, 33
	rng := rand.New(rand.NewPCG(9, 9))
	var x []float32
	s := &device.Sparse{Cols: in, Offsets: []int{0}}
	for range rows {
		row := randomBits(rng, in, 0.1)
		x = append(x, row...)
		for j, v := range row {
			if v == 1 {
				s.Items = append(s.Items, uint32(j))
			}
		}
		s.Offsets = append(s.Offsets, len(s.Items))
	}
	for _, phase := range []bool{false, true} {
		for name, k := range kernels(64, phase) {
			m := newMap(t, k, in, 2)
			a, b := transform(m, dense(rows, in, x)), transform(m, device.Batch{Rows: rows, Sparse: s})
			for i := range rows {
				for j, v := range a.Row(i) {
					if math.Abs(float64(v-b.Row(i)[j])) > 1e-4 {
						t.Fatalf("%s, phase %v: feature %d of row %d is %v for a dense record, %v for a sparse one",
							name, phase, j, i, v,
							b.Row(i)[j])
					}
				}
			}
		}
	}
}

// TestRowsDoNotDependOnTheirBatch compares rows of a large batch with the same rows alone. The
// batch has several blocks of the map with phases.
func TestRowsDoNotDependOnTheirBatch(t *testing.T) {
	const in, rows = 12, 5000
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, rows*in)
	for i := range x {
		x[i] = rng.Float32()
	}
	for _, phase := range []bool{false, true} {
		m := newMap(t, rff.RBF{Dim: 200, Bandwidth: 1, Phase: phase}, in, 2)
		all := transform(m, dense(rows, in, x))
		for _, i := range []int{0, 1, 2620, 2621, 2622, 4095, 4096, rows - 1} {
			one := transform(m, dense(1, in, x[i*in:(i+1)*in]))
			if !slices.Equal(all.Row(i), one.Row(0)) {
				t.Errorf("phase %v: row %d has other features alone than in a batch", phase, i)
			}
		}
	}
}

func TestEmptyBatch(t *testing.T) {
	for _, phase := range []bool{false, true} {
		m := newMap(t, rff.RBF{Dim: 4, Bandwidth: 1, Phase: phase}, 3, 2)
		transform(m, dense(0, 3, nil))
		transform(m, device.Batch{Sparse: &device.Sparse{Cols: 3, Offsets: []int{0}}})
	}
}

func TestConcurrentUse(t *testing.T) {
	const in = 20
	m := newMap(t, rff.RBF{Dim: 40, Bandwidth: 2, Phase: true}, in, 1)
	x := randomBits(rand.New(rand.NewPCG(1, 1)), in*30, 0.5)
	want := transform(newMap(t, rff.RBF{Dim: 40, Bandwidth: 2, Phase: true}, in, 1), dense(30, in, x))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := transform(m, dense(30, in, x)); !slices.Equal(got.Data, want.Data) {
					t.Error("a concurrent Transform gives other features")
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkTransform(b *testing.B) {
	const in, rows = 784, 4096
	x := randomBits(rand.New(rand.NewPCG(1, 1)), in*rows, 0.2)
	for _, dim := range []int{50, 200, 1000} {
		b.Run(map[int]string{50: "d=50", 200: "d=200", 1000: "d=1000"}[dim], func(b *testing.B) {
			m := newMap(b, rff.RBF{Dim: dim, Bandwidth: 8}, in, 1)
			be := device.CPU()
			dst, src := be.New(rows, dim), dense(rows, in, x)
			b.ReportAllocs()
			for b.Loop() {
				m.Transform(be, src, dst)
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
