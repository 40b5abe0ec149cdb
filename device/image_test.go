package device

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// imageStep runs every operation on images. Each uses results of earlier ones.
type imageStep struct {
	w                       Window
	src, patches, weights   Matrix
	out, delta, large, back Matrix
	stats, gain, shift, dg  Matrix
	norms                   []float64
}

func newImageStep(r *rand.Rand, images, maps int) *imageStep {
	s := &imageStep{w: Window{Image: Image{14, 14, maps}, Size: 3, Stride: 1, Pad: 1},
		norms: make([]float64, images)}
	places := s.w.Places()
	s.src = randomMatrix(r, images, s.w.Len(), 0)
	s.patches = randomMatrix(r, images*places, s.w.Patch(), 0)
	s.weights = randomMatrix(r, s.w.Patch(), 32, 0)
	s.out, s.delta = randomMatrix(r, images*places, 32, 0), randomMatrix(r, images*places, 32, 0)
	s.large = randomMatrix(r, images, 4*s.w.Len(), 0)
	s.back = randomMatrix(r, images, s.w.Len(), 0)
	s.stats, s.gain, s.shift, s.dg = randomMatrix(r, 2, 32, 0), randomMatrix(r, 1, 32, 0),
		randomMatrix(r, 1, 32, 0), randomMatrix(r, 1, 32, 0)
	return s
}

func (s *imageStep) run(c *cpu) {
	c.Im2Col(s.w, s.patches, s.src)
	c.Gemm(false, false, 1, s.patches, s.weights, 0, s.out)
	c.Moments(s.stats, s.out, 1e-5)
	c.BlockProductNorms(s.norms, s.w.Places(), s.patches, s.out)
	c.NormalizeGradient(s.delta, s.out, s.stats, s.gain, s.dg, s.shift)
	c.Normalize(s.out, s.out, s.stats, s.gain, s.shift)
	c.Gemm(false, true, 1, s.out, s.weights, 0, s.patches)
	c.Col2Im(s.w, s.back, s.patches)
	c.UpSample(s.w.Image, s.large, s.back)
	c.UpSampleGradient(s.w.Image, s.back, s.large)
}

// TestImageSameBits checks that results do not depend on the number of workers.
func TestImageSameBits(t *testing.T) {
	one := newImageStep(rand.New(rand.NewPCG(1, 5)), 20, 8)
	one.run(newCPU(1, fastest()))
	for _, workers := range []int{2, 3} {
		many := newImageStep(rand.New(rand.NewPCG(1, 5)), 20, 8)
		many.run(newCPU(workers, fastest()))
		if !slices.Equal(one.back.Data, many.back.Data) || !slices.Equal(one.norms, many.norms) ||
			!slices.Equal(one.dg.Data, many.dg.Data) {
			t.Errorf("%d workers and one worker give different bits", workers)
		}
	}
}

func TestImageNoAllocation(t *testing.T) {
	c, s := newCPU(2, fastest()), newImageStep(rand.New(rand.NewPCG(1, 6)), 20, 8)
	for range 5 {
		s.run(c)
	}
	if n := testing.AllocsPerRun(20, func() { s.run(c) }); n >= 1 {
		t.Errorf("%v allocations in a step, want 0", n)
	}
}

func BenchmarkImage(b *testing.B) {
	c, s := newCPU(1, fastest()), newImageStep(rand.New(rand.NewPCG(1, 7)), 32, 16)
	pixels, patches := s.src.Rows*s.src.Cols, s.patches.Rows*s.patches.Cols
	b.Run("im2col", func(b *testing.B) {
		perNumber(b, patches, func() { c.Im2Col(s.w, s.patches, s.src) })
	})
	b.Run("col2im", func(b *testing.B) {
		perNumber(b, patches, func() { c.Col2Im(s.w, s.back, s.patches) })
	})
	b.Run("product", func(b *testing.B) {
		perNumber(b, patches, func() { c.Gemm(false, false, 1, s.patches, s.weights, 0, s.out) })
	})
	b.Run("norms", func(b *testing.B) {
		perNumber(b, patches, func() { c.BlockProductNorms(s.norms, s.w.Places(), s.patches, s.out) })
	})
	grey := Window{Image: Image{28, 28, 1}, Size: 5, Stride: 2, Pad: 2}
	image, cols := c.New(32, grey.Len()), c.New(32*grey.Places(), grey.Patch())
	b.Run("im2colGrey", func(b *testing.B) {
		perNumber(b, cols.Rows*cols.Cols, func() { c.Im2Col(grey, cols, image) })
	})
	b.Run("bilinear", func(b *testing.B) {
		perNumber(b, 4*pixels, func() { c.UpSample(s.w.Image, s.large, s.back) })
	})
	b.Run("bilinearGradient", func(b *testing.B) {
		perNumber(b, 4*pixels, func() { c.UpSampleGradient(s.w.Image, s.back, s.large) })
	})
	n := s.out.Rows * s.out.Cols
	b.Run("moments", func(b *testing.B) {
		perNumber(b, n, func() { c.Moments(s.stats, s.out, 1e-5) })
	})
	b.Run("normalize", func(b *testing.B) {
		perNumber(b, n, func() { c.Normalize(s.out, s.out, s.stats, s.gain, s.shift) })
	})
	b.Run("normalizeGradient", func(b *testing.B) {
		perNumber(b, n, func() { c.NormalizeGradient(s.delta, s.out, s.stats, s.gain, s.dg, s.shift) })
	})
}
