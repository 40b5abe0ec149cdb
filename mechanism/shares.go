package mechanism

// shareStep is the unit of the fractions of 1 with which the rows of one person count. The
// fractions are multiples of shareStep and add up to 1, so that sums hold them exactly.
const shareStep = 0x1p-20

// CountGrid returns the grid for counts that receive noise of standard deviation std: the grid of
// [ShareGrid] if parts is set and rows count as fractions of 1, and the grid of [GridFor] if each
// row counts 1.
func CountGrid(std float64, parts bool) float64 {
	if parts {
		return ShareGrid(std)
	}
	return GridFor(std)
}

// ShareGrid returns the grid for counts to which [FixedSum.AddShare] adds fractions of 1, and
// that receive noise of standard deviation std: the grid of [GridFor] or 2^-20, whichever is
// finer.
func ShareGrid(std float64) float64 { return min(GridFor(std), shareStep) }

// AddShare adds a fraction of 1, which must be a multiple of 2^-20, to coordinate i. The addition
// is exact, so that fractions that add up to 1 count exactly 1.
//
// It panics for a fraction below 1 on a sum whose grid is coarser than 2^-20, on which the
// addition would not be exact.
func (s *FixedSum) AddShare(i int, share float64) {
	if share == 1 {
		s.AddInt(i, 1)
		return
	}
	if s.grid > shareStep {
		panic("mechanism: FixedSum.AddShare: the sum's grid is coarser than 2^-20: use ShareGrid")
	}
	s.sum[i] += steps(share * s.inverse)
}
