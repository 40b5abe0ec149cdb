package device

import (
	"math"
	"testing"
)

// references holds the functions in float64, and the errors that are allowed, in units in the last
// place of a float32.
var references = []struct {
	f    Func
	want func(float64) float64
	ulps float64
}{
	{Exp, math.Exp, 1.3},
	{Log, math.Log, 1.2},
	{Tanh, math.Tanh, 2},
	{Sigmoid, func(x float64) float64 {
		if x < 0 {
			return math.Exp(x) / (1 + math.Exp(x))
		}
		return 1 / (1 + math.Exp(-x))
	}, 2.5},
	{Softplus, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, 3},
	{ReLU, func(x float64) float64 {
		if x < 0 {
			return 0
		}
		return x
	}, 0},
	{LeakyReLU, func(x float64) float64 {
		if x < 0 {
			return x * float64(float32(LeakySlope))
		}
		return x
	}, 0.5},
	{Identity, func(x float64) float64 { return x }, 0},
}

// ulpsApart returns the distance from got to want, in units in the last place of the float32 number
// nearest to want.
func ulpsApart(got float32, want float64) float64 {
	rounded := float32(want)
	switch {
	case got == rounded, got != got && want != want:
		if math.IsInf(float64(got), 0) || got != got {
			return 0
		}
	case math.IsInf(float64(got), 0) && math.Abs(want) > math.MaxFloat32*(1-1e-7):
		return 0.5
	case got != got || want != want || math.IsInf(float64(rounded), 0) != math.IsInf(float64(got), 0):
		return math.Inf(1)
	}
	_, e := math.Frexp(want)
	ulp := math.Ldexp(1, max(e-24, -149))
	return math.Abs(float64(got)-want) / ulp
}

// TestFunctionsUlps checks float32 numbers of every magnitude, including special values.
func TestFunctionsUlps(t *testing.T) {
	const stride = 1 << 14
	var xs []float32
	for bits := uint64(0); bits < 1<<32; bits += stride - 1 {
		xs = append(xs, math.Float32frombits(uint32(bits)))
	}
	for x := -20.0; x < 20; x += 0.001 {
		xs = append(xs, float32(x))
	}
	inf := float32(math.Inf(1))
	xs = append(xs, 0, float32(math.Copysign(0, -1)), inf, -inf, float32(math.NaN()), 1,
		math.SmallestNonzeroFloat32, 0x1p-126, math.MaxFloat32)
	for _, level := range available() {
		for _, ref := range references {
			dst := make([]float32, len(xs))
			level.apply[ref.f](dst, xs)
			worst, at := 0.0, float32(0)
			for i, x := range xs {
				if d := ulpsApart(dst[i], ref.want(float64(x))); d > worst {
					worst, at = d, x
				}
			}
			t.Logf("%s %s: %.3g ulp, at %g", level.name, ref.f, worst, at)
			if worst > max(ref.ulps, 0.501) {
				t.Errorf("%s %s: error of %.3g ulp at %g, want at most %g", level.name, ref.f, worst, at,
					ref.ulps)
			}
		}
	}
}

func TestCosSinUlps(t *testing.T) {
	var xs []float32
	for x := -70000.0; x < 70000; x += 0.137 {
		xs = append(xs, float32(x))
	}
	for x := -20.0; x < 20; x += 0.0003 {
		xs = append(xs, float32(x))
	}
	for bits := uint64(0); bits < 1<<32; bits += 1<<15 - 1 {
		xs = append(xs, math.Float32frombits(uint32(bits)))
	}
	for k := 1; k < 40000; k++ {
		xs = append(xs, float32(float64(k)*math.Pi/2)) // results next to zero
	}
	for _, level := range available() {
		cos, sin := make([]float32, len(xs)), make([]float32, len(xs))
		level.cosSin(cos, sin, xs, 1)
		worst, at := 0.0, float32(0)
		for i, x := range xs {
			s, c := math.Sincos(float64(x))
			d := max(math.Abs(float64(cos[i])-c), math.Abs(float64(sin[i])-s))
			if x != x || math.IsInf(float64(x), 0) {
				d = 0
				if cos[i] == cos[i] || sin[i] == sin[i] {
					d = math.Inf(1)
				}
			}
			if d > worst {
				worst, at = d, x
			}
		}
		t.Logf("%s cos, sin: %.3g at %g", level.name, worst, at)
		if worst > 1.2e-7 {
			t.Errorf("%s: error %.3g of the cosine or sine of %g, want at most 1.2e-7", level.name, worst, at)
		}
	}
}

// TestVectorsSameBits checks that a value depends on its argument alone, not on its position in a
// vector or on the size of vectors.
func TestVectorsSameBits(t *testing.T) {
	levels := available()
	var xs []float32
	for bits := uint64(0); bits < 1<<32; bits += 1<<17 - 1 {
		xs = append(xs, math.Float32frombits(uint32(bits)))
	}
	one := func(f func(dst, src []float32), x float32) float32 {
		src, dst := [1]float32{x}, [1]float32{}
		f(dst[:], src[:])
		return dst[0]
	}
	functions := map[string]func(k *kernels) func(dst, src []float32){
		"cos": func(k *kernels) func(dst, src []float32) {
			return func(dst, src []float32) { k.cosSin(dst, make([]float32, len(dst)), src, 0.7) }
		},
		"sin": func(k *kernels) func(dst, src []float32) {
			return func(dst, src []float32) { k.cosSin(make([]float32, len(dst)), dst, src, 0.7) }
		},
	}
	for f := Identity; f < funcs; f++ {
		functions[f.String()] = func(k *kernels) func(dst, src []float32) { return k.apply[f] }
		functions[f.String()+" gradient"] = func(k *kernels) func(dst, src []float32) {
			return func(dst, src []float32) {
				for i := range dst {
					dst[i] = 1.5
				}
				k.gradient[f](dst, src)
			}
		}
	}
	for name, f := range functions {
		want := make([]float32, len(xs))
		for i, x := range xs {
			want[i] = one(f(levels[0]), x)
		}
		for _, level := range levels {
			for _, lo := range []int{0, 1, 5, 11} {
				got := make([]float32, len(xs)-lo)
				f(level)(got, xs[lo:])
				for i, v := range got {
					if w := want[lo+i]; v != w && (v == v || w == w) {
						t.Fatalf("%s %s of %g: %v in a slice from number %d on, want %v", level.name,
							name, xs[lo+i], v, lo, w)
					}
				}
			}
		}
	}
}
