package mechanism

// shareStep is the unit of shares. Each row of a person counts as a fraction of 1, its share. The
// shares of one person's rows are multiples of shareStep and add up to 1. So a sum on the grid of
// shareGrid holds them exactly.
const shareStep = 0x1p-20

// CountGrid returns the grid for counts that receive noise of standard deviation std. If parts is
// true, rows count as fractions of 1, and the result is the grid of [GridFor] or 2^-20, whichever
// is finer. Otherwise each row counts as 1, and the result is [GridFor]'s.
func CountGrid(std float64, parts bool) float64 {
	if parts {
		return shareGrid(std)
	}
	return GridFor(std)
}

// shareGrid returns the grid for counts to which [FixedSum.AddShare] adds fractions of 1. The
// counts receive noise of standard deviation std. The result is the grid of [GridFor] or 2^-20,
// whichever is finer.
func shareGrid(std float64) float64 { return min(GridFor(std), shareStep) }

// AddShare adds a fraction of 1, which must be a multiple of 2^-20, to coordinate i. On the grid of
// [CountGrid] for parts the addition is exact, so fractions that add up to 1 count as exactly 1.
//
// On a grid coarser than 2^-20 the addition would not be exact: AddShare then panics, except for a
// share of 1, which it adds as AddInt does.
func (s *FixedSum) AddShare(i int, share float64) {
	if share == 1 {
		s.AddInt(i, 1)
		return
	}
	if s.grid > shareStep {
		panic("mechanism: FixedSum.AddShare: the sum's grid is coarser than 2^-20: use CountGrid")
	}
	s.sum[i] += steps(share * s.inverse)
}
