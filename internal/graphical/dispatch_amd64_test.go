//go:build !purego

package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKernelsGiveTheBitsOfLoops compares sums and products of views of random shapes, and the
// memory beside their tables, which kernels must not touch.
func TestKernelsGiveTheBitsOfLoops(t *testing.T) {
	if !vectors {
		t.Skip("this machine has no AVX2")
	}
	defer func() { vectors = true }()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		d := make(Domain, 1+rng.IntN(5))
		var from, to []int
		for i := range d {
			d[i] = 1 + rng.IntN([]int{2, 4, 11, 19}[rng.IntN(4)])
			from = append(from, i)
			if rng.IntN(2) == 0 {
				to = append(to, i)
			}
		}
		v := d.newView(from, to)
		table, by := noisy(rng, int(d.Cells(from))), noisy(rng, v.cells)
		before := slices.Clone(table)
		var scaled, summed [2][]float64
		for i := range 2 {
			vectors = i == 1
			scaled[i], summed[i] = noisy(rng, len(inside(table))), noisy(rng, v.cells)
			v.scale(inside(scaled[i]), inside(table), inside(by))
			v.sum(inside(summed[i]), inside(table))
		}
		again := slices.Clone(table)
		if v.scale(inside(again), inside(again), inside(by)); !slices.Equal(again, scaled[1]) {
			t.Fatalf("%v to %v: products in place differ", d, to)
		}
		if !slices.Equal(inside(scaled[0]), inside(scaled[1])) {
			t.Fatalf("%v to %v: products differ", d, to)
		}
		if !slices.Equal(inside(summed[0]), inside(summed[1])) {
			t.Fatalf("%v to %v: sums differ", d, to)
		}
		for _, list := range [][]float64{scaled[1], summed[1], table} {
			if !guarded(list) {
				t.Fatalf("%v to %v: a kernel wrote beside a table", d, to)
			}
		}
		if !slices.Equal(table, before) {
			t.Fatalf("%v to %v: a kernel wrote to its operand", d, to)
		}
	}
}

const guard = 4 // numbers before and behind a table

// noisy returns n random positive numbers of many magnitudes between guards.
func noisy(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n+2*guard)
	for i := range out {
		if out[i] = -1; i >= guard && i < n+guard {
			out[i] = math.Exp(20 * rng.NormFloat64())
		}
	}
	return out
}

func inside(list []float64) []float64 { return list[guard : len(list)-guard] }

func guarded(list []float64) bool {
	whole := true
	for i := range guard {
		whole = whole && list[i] == -1 && list[len(list)-1-i] == -1
	}
	return whole
}

// TestExponentialsGiveTheBitsOfMath compares powers of random numbers, of numbers that have no
// normal power, and of none at all, with math.Exp, in lists that begin and end anywhere.
func TestExponentialsGiveTheBitsOfMath(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	rare := []float64{0, -708, -709, -740, -746, math.Inf(-1), math.NaN(), -1e-300, -1e300}
	for range 3000 {
		n, top := rng.IntN(40), 10*rng.NormFloat64()
		x, got := make([]float64, n+2*guard), noisy(rng, n)
		for i := range x {
			if x[i] = top - 800*rng.Float64()*rng.Float64()*rng.Float64(); rng.IntN(30) == 0 {
				x[i] = top + rare[rng.IntN(len(rare))]
			}
		}
		exponentials(inside(got), inside(x), top)
		for i, v := range inside(x) {
			if want := math.Exp(v - top); math.Float64bits(inside(got)[i]) != math.Float64bits(want) {
				t.Fatalf("e^(%v - %v) is %v, want %v", v, top, inside(got)[i], want)
			}
		}
		if !guarded(got) {
			t.Fatal("the kernel wrote beside a list")
		}
	}
}
