package mechanism

import "math"

// FixedSum adds records exactly. Every coordinate is an integer number of public grid steps. So the
// sum does not depend on the order of the rows, or on how they are divided among threads or
// machines.
//
// Each coordinate of each row is first rounded toward zero. So no row's norm grows, and no bound
// derived from norms and signs grows either. The difference of two rows may grow by less than one
// grid step in each coordinate. A sensitivity that is derived from the width of a range under
// replace-one must therefore add grid·√dim. The sum wraps around at 2^63 grid steps, and noise is
// added with the same wrapping. So wrapping is post-processing of the unbounded noisy sum and costs
// no privacy. At the grid of [GridFor] only sums of 2^33 noise standard deviations or more wrap
// around.
//
// A FixedSum holds private numbers. [Grant.Release] publishes them with noise, [Key.Seal] encrypts
// them, and [FixedSum.Exact] returns them as they are. The zero value has no coordinates and no
// grid.
type FixedSum struct {
	*hiddenSum
}

// hiddenSum keeps a sum behind two pointers, so that package fmt does not print its numbers.
// Package fmt does not call the Format method of an unexported field of another struct, and does
// not follow two pointers from there.
type hiddenSum struct {
	*fixedSum
}

// fixedSum holds the numbers of a FixedSum.
type fixedSum struct {
	sum     []int64
	grid    float64
	inverse float64
}

// rowLimit bounds, in grid steps, the amount that one call adds to one coordinate. At the grid of
// GridFor it is 2^13 noise standard deviations.
const rowLimit = 1 << 43

// NewFixedSum returns a sum with dim coordinates, all zero. The grid must be a power of two.
//
// Errors: Release fails for a sum on any other grid, or of a negative dimension.
func NewFixedSum(dim int, grid float64) *FixedSum {
	n := &fixedSum{sum: make([]int64, max(dim, 0)), grid: grid, inverse: 1 / grid}
	return &FixedSum{&hiddenSum{n}}
}

// GridFor returns the grid for sums that receive noise of standard deviation std. The grid is the
// power of two above 2^-31 and at most 2^-30 of std.
func GridFor(std float64) float64 {
	return powerBelow(std) * 0x1p-30
}

// powerBelow returns the largest power of two that is not above x, or NaN if x is not positive and
// finite.
func powerBelow(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return math.NaN()
	}
	_, e := math.Frexp(x)
	return math.Ldexp(1, e-1)
}

// Dim returns the number of coordinates.
func (s *FixedSum) Dim() int {
	if !s.made() {
		return 0
	}
	return len(s.sum)
}

func (s *FixedSum) made() bool { return s != nil && s.hiddenSum != nil }

// Grid returns the public step.
func (s *FixedSum) Grid() float64 {
	if !s.made() {
		return 0
	}
	return s.grid
}

// AddRow adds scale × row, each coordinate rounded toward zero.
func (s *FixedSum) AddRow(row []float32, scale float64) { s.AddRowAt(0, row, scale) }

// AddRowAt adds scale × row to the coordinates that start at offset.
func (s *FixedSum) AddRowAt(offset int, row []float32, scale float64) {
	dst := s.sum[offset : offset+len(row)]
	f := s.factor(scale)
	if f != f {
		return // not a number: the row counts as zero
	}
	// Without the sign, the bits of a float32 increase with its absolute value, up to infinity and
	// NaN. A coordinate whose bits are below limit adds less than rowLimit.
	limit := math.Float32bits(float32(0.99 * rowLimit / math.Abs(f)))
	for i, v := range row {
		if math.Float32bits(v)&^(1<<31) < limit {
			dst[i] += int64(float64(v) * f)
		} else {
			dst[i] += steps(float64(v) * f)
		}
	}
}

// AddRow64 adds scale × row, each coordinate rounded toward zero.
func (s *FixedSum) AddRow64(row []float64, scale float64) { s.AddRow64At(0, row, scale) }

// AddRow64At adds scale × row to the coordinates that start at offset.
func (s *FixedSum) AddRow64At(offset int, row []float64, scale float64) {
	dst := s.sum[offset : offset+len(row)]
	f := s.factor(scale)
	for i, v := range row {
		dst[i] += steps(v * f)
	}
}

// factor returns the factor from a row's units to grid steps. Unless scale is a power of two, the
// factor is reduced by more than two roundings. Its float64 product with a coordinate then cannot
// exceed the real product.
func (s *FixedSum) factor(scale float64) float64 {
	f := scale * s.inverse
	if m, _ := math.Frexp(scale); math.Abs(m) != 0.5 {
		f *= 1 - 0x1p-52
	}
	return f
}

// AddInt adds the whole number v to coordinate i.
func (s *FixedSum) AddInt(i int, v int64) { s.sum[i] += steps(float64(v) * s.inverse) }

// steps rounds toward zero and clamps to the public limit of one row. NaN counts as zero.
func steps(x float64) int64 {
	switch {
	case x >= rowLimit:
		return rowLimit
	case x <= -rowLimit:
		return -rowLimit
	case x != x:
		return 0
	}
	return int64(x)
}

// Merge adds another sum of the same shape and grid, for instance the sum of another thread or
// shard. It panics if shape or grid differ.
func (s *FixedSum) Merge(o *FixedSum) {
	if len(o.sum) != len(s.sum) || o.grid != s.grid {
		panic("mechanism: FixedSum.Merge: the sums differ in shape or grid")
	}
	for i, v := range o.sum {
		s.sum[i] += v
	}
}

// Slice returns a sum that shares the coordinates lo to hi-1 with s.
func (s *FixedSum) Slice(lo, hi int) *FixedSum {
	return &FixedSum{&hiddenSum{&fixedSum{sum: s.sum[lo:hi:hi], grid: s.grid, inverse: s.inverse}}}
}

// Reset sets the sum to zero.
func (s *FixedSum) Reset() { clear(s.sum) }
