package device

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded allocates slices that end right before an inaccessible page. A read or write beyond their
// end then crashes.
type guarded struct {
	t     *testing.T
	pages [][]byte
}

func (g *guarded) floats(r *rand.Rand, n int) []float32 {
	page := syscall.Getpagesize()
	size := (4*n+page-1)/page*page + page
	m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		g.t.Fatal(err)
	}
	if err := syscall.Mprotect(m[size-page:], syscall.PROT_NONE); err != nil {
		g.t.Fatal(err)
	}
	g.pages = append(g.pages, m)
	if n == 0 {
		return nil
	}
	out := unsafe.Slice((*float32)(unsafe.Pointer(&m[size-page-4*n])), n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}

func (g *guarded) matrix(r *rand.Rand, rows, cols int) Matrix {
	return HostMatrix(rows, cols, g.floats(r, rows*cols))
}

func (g *guarded) free() {
	for _, m := range g.pages {
		if err := syscall.Munmap(m); err != nil {
			g.t.Error(err)
		}
	}
}

func TestNothingBeyondOperands(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, level := range available() {
		c := newCPU(1, level)
		for range 100 {
			guardedStep(t, r, c, 1+r.IntN(40), 1+r.IntN(40), 1+r.IntN(40))
		}
		for thin := 1; thin < 6; thin++ {
			guardedStep(t, r, c, thin, 33, 40)
			guardedStep(t, r, c, 33, thin, 40)
			guardedStep(t, r, c, 40, 33, thin)
		}
	}
}

func guardedStep(t *testing.T, r *rand.Rand, c *cpu, m, n, k int) {
	g := &guarded{t: t}
	defer g.free()
	out, bias, wide := g.matrix(r, m, n), g.matrix(r, 1, n), g.matrix(r, m, 2*n)
	for form := range 4 {
		transA, transB := form&1 != 0, form&2 != 0
		a, b := g.matrix(r, m, k), g.matrix(r, k, n)
		if transA {
			a = HostMatrix(k, m, a.Data)
		}
		if transB {
			b = HostMatrix(n, k, b.Data)
		}
		c.Gemm(transA, transB, 1, a, b, float32(form&1), out)
	}
	for f := Identity; f < funcs; f++ {
		c.BiasApply(f, out, bias)
		c.Gradient(f, out, out)
	}
	norms := make([]float64, m)
	c.RowSquaredNorms(norms, out)
	c.RowDots(norms, out, wide.Slice(0, m, n, 2*n))
	c.CosSin(wide, out, 1)
	c.ColSums(g.floats(r, m), out, 0, bias)
	c.Axpy(2, out, out)
	c.Softmax(wide.Slice(0, m, n, 2*n))
	c.Softmax(out)
	x, y := g.floats(r, m*n), g.floats(r, m*n)
	c.SoftmaxGradient(out, HostMatrix(m, n, x))
	c.Standardize(n, 1, 1e-5, y, x)
	c.StandardizeGradient(n, 1, 1e-5, out.Data, g.floats(r, m*n), y, x)
	c.Raise(y, x)
	c.GiveEqual(g.floats(r, m*n), g.floats(r, m*n), x, y)
	c.AddMultiple(2, x, y)
	c.Mul(out, out, out)
	c.Adam(out, g.matrix(r, m, n), g.matrix(r, m, n), g.matrix(r, m, n), AdamStep{T: 1, Eps: 1})
	s := &Sparse{Cols: m, Offsets: []int{0, 2, 3}, Items: []uint32{uint32(m - 1), 0, uint32(m - 1)}}
	c.SparseGemm(s, out, 0, g.matrix(r, 2, n))
	c.SparseGemmT(s, g.matrix(r, 2, n), 1, out)
}

// TestNothingBeyondImages checks kernels of convolutions, which read images in place. They must not
// access memory beyond the images.
func TestNothingBeyondImages(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, level := range available() {
		c := newCPU(1, level)
		for _, k := range convolutions {
			g := &guarded{t: t}
			for _, turned := range []bool{false, true} {
				src, m := g.matrix(r, 3, k.w.Len()), g.matrix(r, 3*k.w.Places(), k.maps)
				weights, sums := g.matrix(r, k.w.Patch(), k.maps), g.matrix(r, k.w.Patch(), k.maps)
				if turned {
					weights = HostMatrix(k.maps, k.w.Patch(), weights.Data)
					sums = HostMatrix(k.maps, k.w.Patch(), sums.Data)
				}
				c.Convolve(k.w, turned, src, weights, m)
				c.Im2Col(k.w, g.matrix(r, 3*k.w.Places(), k.w.Patch()), src)
				c.AddConvolved(k.w, turned, src, m, sums)
				c.Spread(k.w, !turned, m, weights, src)
				if p := c.Pack(turned, weights); p != nil {
					a, out := g.matrix(r, 7, k.w.Patch()), g.matrix(r, 7, k.maps)
					c.GemmPacked(a, p, 0, out)
				}
			}
			g.free()
		}
	}
}
