package rff_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/rff"
)

// exact holds each kernel's closed form as a function of the difference of two records.
var exact = map[string]func(delta []float64) float64{
	"rbf": func(d []float64) float64 { return math.Exp(-square(d) / (2 * 4)) },
}

func square(d []float64) (s float64) {
	for _, v := range d {
		s += v * v
	}
	return s
}

// pairs draws pairs of records at many distances, so that kernel values range from about 1 to about
// 0.
func pairs(rng *rand.Rand, n, in int) (x, y []float32) {
	for p := range n {
		length := 0.1 + 4*float64(p)/float64(n)
		for range in {
			a := rng.NormFloat64()
			x = append(x, float32(a))
			y = append(y, float32(a+rng.NormFloat64()*length/math.Sqrt(float64(in))))
		}
	}
	return x, y
}

// worst returns the largest |z(x)·z(y) − k(x,y)| over the pairs.
func worst(t *testing.T, k rff.Kernel, seed uint64, in, n int,
	exact func([]float64) float64) float64 {
	t.Helper()
	x, y := pairs(rand.New(rand.NewPCG(11, 12)), n, in)
	m := newMap(t, k, in, seed)
	a, b := transform(m, dense(n, in, x)), transform(m, dense(n, in, y))
	var bad float64
	delta := make([]float64, in)
	for i := range n {
		var dot float64
		for j, v := range a.Row(i) {
			dot += float64(v) * float64(b.Row(i)[j])
		}
		for j := range delta {
			delta[j] = float64(x[i*in+j]) - float64(y[i*in+j])
		}
		bad = max(bad, math.Abs(dot-exact(delta)))
	}
	return bad
}

// hoeffding returns a bound on the error of the mean of m terms in [-r, r]. With probability at
// least 1−alarm the bound holds for all n pairs at once.
func hoeffding(m, n int, r, alarm float64) float64 {
	return r * math.Sqrt(2*math.Log(2*float64(n)/alarm)/float64(m))
}

// TestKernelApproximation compares inner products of features with the kernels. Paired features
// average cos⟨w,x−y⟩ ∈ [−1,1]; phases average 2·cos·cos ∈ [−2,2]. For independent frequencies the
// false-alarm probability is 1e-9 for each kernel; seeds are fixed.
func TestKernelApproximation(t *testing.T) {
	const in, dim, n = 9, 8000, 60
	for name, k := range kernels(dim, false) {
		bound := hoeffding(dim/2, n, 1, 1e-9) + 1e-4
		if e := worst(t, k, 21, in, n, exact[name]); e > bound {
			t.Errorf("%s: error %.4f above %.4f", name, e, bound)
		}
	}
	for name, k := range kernels(dim, true) {
		bound := hoeffding(dim, n, 2, 1e-9) + 1e-4
		if e := worst(t, k, 22, in, n, exact[name]); e > bound {
			t.Errorf("%s with phases: error %.4f above %.4f", name, e, bound)
		}
	}
	// Power: the test detects a bandwidth that is wrong by a quarter.
	if e, bound := worst(t, rff.RBF{Dim: dim, Bandwidth: 2.5}, 21, in, n, exact["rbf"]),
		hoeffding(dim/2, n, 1, 1e-9); e < bound {
		t.Errorf("a wrong bandwidth has error %.4f, below the bound %.4f: the test has no power", e,
			bound)
	}
}

// TestGammaIsTheVarianceNotTheDeviation checks that frequencies of variance 2γ give the kernel
// exp(−γ‖x−y‖²) and that frequencies of standard deviation 2γ do not.
func TestGammaIsTheVarianceNotTheDeviation(t *testing.T) {
	const in, dim, n, gamma = 9, 8000, 60, 0.05
	want := func(d []float64) float64 { return math.Exp(-gamma * square(d)) }
	bound := hoeffding(dim/2, n, 1, 1e-9) + 1e-4
	right := rff.RBF{Dim: dim, Bandwidth: 1 / math.Sqrt(2*gamma)}
	if e := worst(t, right, 1, in, n, want); e > bound {
		t.Errorf("variance 2γ: error %.4f above %.4f", e, bound)
	}
	wrong := rff.RBF{Dim: dim, Bandwidth: 1 / (2 * gamma)}
	if e := worst(t, wrong, 1, in, n, want); e < 2*bound {
		t.Errorf("standard deviation 2γ: error %.4f, want a large one", e)
	}
}

func TestSeedsAndGoldenFeatures(t *testing.T) {
	x := []float32{1, 0, 1, 0.5}
	get := func(k rff.Kernel, seed uint64) []float32 {
		return transform(newMap(t, k, 4, seed), dense(1, 4, x)).Row(0)
	}
	k := rff.RBF{Dim: 4, Bandwidth: 2}
	a, b, other := get(k, 7), get(k, 7), get(k, 8)
	if a[0] != b[0] || a[3] != b[3] {
		t.Error("the same seed gives different maps")
	}
	if a[0] == other[0] {
		t.Error("different seeds give the same map")
	}
	// These numbers must never change, because a saved map contains only its seed.
	for i, want := range golden {
		if math.Abs(float64(a[i])-want) > 1e-6 {
			t.Errorf("feature %d is %v, want %v as in existing files", i, a[i], want)
		}
	}
}

func TestParameterErrors(t *testing.T) {
	cases := []struct {
		kernel rff.Kernel
		in     int
		paths  []string
	}{
		{rff.RBF{}, 3, []string{"rff.RBF.Dim", "rff.RBF.Bandwidth"}},
		{rff.RBF{Dim: 3, Bandwidth: 1}, 3, []string{"rff.RBF.Dim"}},
		{rff.RBF{Dim: 4, Bandwidth: math.NaN()}, 0, []string{"rff.RBF.Bandwidth", "rff.RBF.New.in"}},
		{rff.RBF{Dim: 4, Bandwidth: math.Inf(1)}, 3, []string{"rff.RBF.Bandwidth"}},
		{rff.RBF{Dim: 4, Bandwidth: -1}, 3, []string{"rff.RBF.Bandwidth"}},
		{rff.RBF{Dim: 1 << 28, Bandwidth: 1}, 1 << 20, []string{"rff.RBF.Dim"}},
	}
	for _, c := range cases {
		m, err := c.kernel.New(c.in, 1)
		var typed *param.Error
		if m != nil || !errors.As(err, &typed) {
			t.Errorf("%+v: got error %v, want *param.Error", c.kernel, err)
			continue
		}
		for _, p := range c.paths {
			if !strings.Contains(err.Error(), p) {
				t.Errorf("%+v: the error %q does not name %s", c.kernel, err, p)
			}
		}
	}
	if _, err := (rff.RBF{Dim: 3, Bandwidth: 1, Phase: true}).New(2, 1); err != nil {
		t.Errorf("an odd number of features with phases: got %v, want no error", err)
	}
}

// TestAnyKernelWrittenElsewhereFits checks that a type with the method New is enough for a
// user-defined Kernel.
func TestAnyKernelWrittenElsewhereFits(t *testing.T) {
	var k rff.Kernel = mixture{}
	m := newMap(t, k, 6, 3)
	if n := norm(
		transform(m, device.Batch{Rows: 1, Dense: dense(1, 6, make([]float32, 6)).Dense}).Row(0)); n > 1 {
		t.Errorf("norm %v, want at most 1", n)
	}
}

// mixture chooses a bandwidth by the seed.
type mixture struct{}

func (mixture) New(in int, seed uint64) (*rff.Map, error) {
	return rff.RBF{Dim: 64, Bandwidth: float64(1 + seed%4)}.New(in, seed)
}
