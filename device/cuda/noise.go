//go:build cuda && cgo

package cuda

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/chunked"
	"gorgonia.org/cu"
)

// NoisySum returns a chunked.Device for a sum of n elements in whole units.
func (g *gpu) NoisySum(units device.Memory, n int) any {
	of := device.Matrix{Rows: 1, Cols: n, Stride: n, Mem: units}
	g.want("NoisySum", of)
	return &noisySum{g: g, n: n, units: of, numbers: g.New(2, n)}
}

// noisySum makes noise for a sum. numbers holds a float64 number for each element: first noise in
// steps of a grid, then the noisy sum, which is released.
type noisySum struct {
	g       *gpu
	n       int
	units   device.Matrix
	numbers device.Matrix
	words   []uint64 // for Draw
}

// Units copies the sum to the host.
func (s *noisySum) Units(dst []int32) {
	s.g.begin()
	defer s.g.end()
	fetch(dst[:s.n], address(s.units))
}

// Draw draws noise. The kernel decides as the CPU does, or not at all. The key does not stay in the
// memory of the device.
func (s *noisySum) Draw(c *chunked.Chunks) []int32 {
	g := s.g
	status := make([]int32, len(c.Counters)/2)
	s.words = slices.Grow(s.words[:0], len(c.Counters)+len(c.Layers)+len(c.Schedule)/8)
	s.words = append(append(s.words, c.Counters...), c.Layers...)
	for k := range len(c.Schedule) / 8 {
		s.words = append(s.words, binary.LittleEndian.Uint64(c.Schedule[8*k:]))
	}
	g.begin()
	defer g.end()
	counters, at := g.room(noiseRoom, 8*len(s.words)), g.room(normsRoom, 4*len(status))
	layers := counters + cu.DevicePtr(8*len(c.Counters))
	keys := layers + cu.DevicePtr(8*len(c.Layers))
	send(counters, s.words)
	g.kernel(drawNoiseKernel).row(s.numbers).pointer(at).pointer(keys).pointer(counters).
		pointer(layers).word(c.Half).word(c.Mask).word(c.Edge).word(c.Shift).double(c.Std).
		int(c.Dim).int(c.Size).launch(min(len(status), crowd), 1, 256)
	check("clearing the key", cu.MemsetD32(keys, 0, int64(len(c.Schedule)/4)))
	clear(s.words)
	g.forget()
	fetch(status, at)
	return status
}

// Sum adds the sum to the noise.
func (s *noisySum) Sum(unit, grid float64) {
	s.g.begin()
	defer s.g.end()
	s.g.kernel(noisySumKernel).row(s.numbers).row(s.units).double(unit).double(grid).int(s.n).each(s.n)
}

// Replace copies numbers to the device.
func (s *noisySum) Replace(offset int, numbers []float64) {
	s.g.begin()
	defer s.g.end()
	send(address(s.numbers)+cu.DevicePtr(8*offset), numbers)
}

// Noisy copies the noisy sum to the host.
func (s *noisySum) Noisy(dst []float64) {
	s.g.begin()
	defer s.g.end()
	fetch(dst[:s.n], address(s.numbers))
}

// Adam moves the parameters lo to hi−1 by one step for the gradient scale·sum, with the bits of
// device.Adam.MoveSum. It moves the average of the parameters by mix, unless the average is empty.
func (s *noisySum) Adam(p, m, v, average device.Matrix, lo, hi int, scale float64, mix float32,
	a device.AdamStep) {
	s.g.wantLike("Adam", s.units, p, m, v)
	r, to := ratesOf(a), cu.DevicePtr(0)
	if !average.Empty() {
		s.g.wantLike("Adam", s.units, average)
		to = address(average) + cu.DevicePtr(4*lo)
	}
	s.g.begin()
	defer s.g.end()
	part := func(m device.Matrix) device.Matrix { return m.Slice(0, 1, lo, hi) }
	s.g.kernel(adamOfSumKernel).row(part(p)).pointer(address(s.numbers) + cu.DevicePtr(8*lo)).
		double(scale).row(part(m)).row(part(v)).pointer(to).float(mix).int(hi - lo).rates(r).each(hi - lo)
}

// adamRates are the factors of a step of Adam, with bias corrections folded in: θ −= step·m /
// (√v·root + ε), where step = LR/(1−β₁ᵀ) and root = 1/√(1−β₂ᵀ).
type adamRates struct{ beta1, rest1, beta2, rest2, step, root, eps float32 }

func ratesOf(s device.AdamStep) adamRates {
	t := float64(s.T)
	return adamRates{s.Beta1, 1 - s.Beta1, s.Beta2, 1 - s.Beta2,
		float32(float64(s.LR) / (1 - math.Pow(float64(s.Beta1), t))),
		float32(1 / math.Sqrt(1-math.Pow(float64(s.Beta2), t))), s.Eps}
}

func (c *call) rates(r adamRates) *call {
	return c.float(r.beta1).float(r.rest1).float(r.beta2).float(r.rest2).float(r.step).float(r.root).
		float(r.eps)
}
