package device

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// TestBitsOnEveryProcessor checks that kernels give the same bits at every level on every
// processor. The hash was computed on amd64. All bit patterns of NaN count as equal.
func TestBitsOnEveryProcessor(t *testing.T) {
	for _, level := range available() {
		const want uint64 = 0xb3f1b7dc07cb90bd
		if got := bitsOf(level); got != want {
			t.Errorf("%s: the hash of the bits is %#x, want %#x", level.name, got, want)
		}
	}
}

// spread returns n numbers of many magnitudes. It uses no arithmetic that processors may round
// differently.
func spread(n int, seed uint64) []float32 {
	x := make([]float32, n)
	for i := range x {
		seed = seed*6364136223846793005 + 1442695040888963407
		mantissa, exponent := int32(seed>>40)-1<<23, int(seed>>20&15)-12
		x[i] = float32(math.Ldexp(float64(mantissa), exponent-20))
	}
	return x
}

// bitsOf returns a hash of the results of all kernels of a level for numbers of spread and for
// special values.
func bitsOf(k *kernels) uint64 {
	h := fnv.New64a()
	write := func(x []float32) {
		for _, v := range x {
			b := math.Float32bits(v)
			if v != v {
				b = 0x7fc00000
			}
			h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
		}
	}
	edges := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)),
		float32(math.NaN()), 1e-40, -1e-40, math.MaxFloat32, 65536, -65536}
	for _, n := range []int{1, 3, 8, 15, 16, 29, 203} {
		x, y, z := append(spread(n, 1), edges...), append(spread(n, 2), edges...), spread(n+len(edges), 3)
		dst := make([]float32, len(x))
		for f := range k.apply {
			k.apply[f](dst, x)
			write(dst)
			copy(dst, z)
			k.gradient[f](dst, y)
			write(dst)
		}
		k.mul(dst, x, y)
		write(dst)
		k.sub(dst, x, y)
		write(dst)
		copy(dst, z)
		k.axpy(0.7, x, dst)
		write(dst)
		k.scale(1.3, dst)
		write(dst)
		k.clamp(dst, x, -1.5, 2)
		write(dst)
		k.threshold(dst, x, 0.5)
		write(dst)
		k.scaleOdd(0.3, dst, x)
		write(dst)
		sin := make([]float32, len(x))
		k.cosSin(dst, sin, spread(len(x), 4), 0.1)
		write(dst)
		write(sin)
		a, b := spread(n, 5), spread(n, 6)
		fmt.Fprintf(h, "%x", math.Float64bits(k.dot(a, b)))
		m, v, p := make([]float32, n), make([]float32, n), spread(n, 7)
		rates := adamRates{beta1: 0.9, rest1: 0.1, beta2: 0.999, rest2: 0.001, step: 0.01, root: 1.5,
			eps: 1e-8}
		k.adam(p, a, m, v, &rates, 0.5)
		write(p)
		total := make([]int32, n)
		k.units(0.5, 0x1.8p20, spread(n, 8), total)
		fmt.Fprint(h, total)
		k.gather(p, spread(4*n, 9), n, []uint32{2, 0, 3, 2})
		write(p)
		k.scatter(p, 0, []uint32{0}, a)
		write(p)
	}
	c := newCPU(1, k)
	for _, width := range []int{1, 5, 8, 13, 32, 50} {
		x, y, z, dx := spread(3*width, 16), spread(3*width, 17), spread(3*width, 18), spread(3*width, 19)
		c.Raise(z, x)
		c.GiveEqual(dx, y, x, z)
		c.SoftmaxGradient(HostMatrix(3, width, x), HostMatrix(3, width, z))
		c.Standardize(width, float64(1-width%2), 1e-5, y, x)
		c.StandardizeGradient(width, float64(1-width%2), 1e-5, dx, z, y, x)
		for _, v := range [][]float32{dx, y, z} {
			write(v)
		}
		c.Softmax(HostMatrix(3, width, x))
		write(x)
	}
	for _, shape := range [][3]int{{1, 1, 1}, {7, 5, 3}, {13, 64, 21}, {40, 300, 2}, {6, 16, 500},
		{31, 450, 33}} {
		m, n, deep := shape[0], shape[2], shape[1]
		for i, trans := range [][2]bool{{false, false}, {false, true}, {true, false}} {
			a, b := HostMatrix(m, deep, spread(m*deep, 10)), HostMatrix(deep, n, spread(deep*n, 11))
			if trans[0] {
				a = HostMatrix(deep, m, a.Data)
			}
			if trans[1] {
				b = HostMatrix(n, deep, b.Data)
			}
			out := HostMatrix(m, n, spread(m*n, 12))
			c.Gemm(trans[0], trans[1], []float32{1, 0.3}[i%2], a, b, []float32{0, 1, 0.5}[i], out)
			write(out.Data)
		}
	}
	for _, v := range convolutions {
		w, n := v.w, v.w.Places()
		src := HostMatrix(2, w.Len(), spread(2*w.Len(), 13))
		m := HostMatrix(2*n, v.maps, spread(2*n*v.maps, 14))
		weights := HostMatrix(w.Patch(), v.maps, spread(w.Patch()*v.maps, 15))
		sum, back, out := c.New(w.Patch(), v.maps), c.New(2, w.Len()), c.New(2*n, v.maps)
		c.AddConvolved(w, false, src, m, sum)
		c.Spread(w, true, m, weights, back)
		c.Convolve(w, false, src, weights, out)
		write(sum.Data)
		write(back.Data)
		write(out.Data)
	}
	return h.Sum64()
}

// TestSpecialProductsSameBits compares products of zeros of both signs, subnormal numbers,
// infinities and NaN with those of portable code.
func TestSpecialProductsSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	minus := float32(math.Copysign(0, -1))
	special := []float32{0, minus, 1e-40, -1e-23, 1e-22, -1e-30, 1, 1e19, -1e19}
	for round := range 600 {
		m, n, k := 1+r.IntN(20), 1+r.IntN(20), 1+r.IntN(20)
		fill := func(rows, cols int, from ...float32) Matrix {
			x := HostMatrix(rows, cols, make([]float32, rows*cols))
			for i := range x.Data {
				x.Data[i] = from[r.IntN(len(from))] * (1 + r.Float32()*float32(round%3))
			}
			if round%5 == 0 {
				x.Data[r.IntN(len(x.Data))] = float32(math.Inf(1 - round%2*2))
			}
			return x
		}
		some := special[:len(special)-round%2*2]
		a, b, start := fill(m, k, some...), fill(k, n, some...), fill(m, n, some...)
		if round%4 == 3 { // every product is rounded to −0
			a, b, start = fill(m, k, 1e-30), fill(k, n, -1e-30), fill(m, n, 0, minus)
		}
		transposed := r.IntN(2) == 0
		if transposed {
			a = HostMatrix(k, m, a.Data)
		}
		beta := float32(r.IntN(2))
		want := run(newCPU(1, generic()), transposed, false, 1, a, b, beta, start)
		for _, level := range available()[1:] {
			got := run(newCPU(1, level), transposed, false, 1, a, b, beta, start)
			for i, v := range want.Data {
				w := got.Data[i]
				if math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
					t.Fatalf("%s: element %d of %d×%d·%d×%d is %x, want %x", level.name, i, m, k, k, n, w, v)
				}
			}
		}
	}
}
