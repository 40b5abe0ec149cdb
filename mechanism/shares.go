package mechanism

// shareStep is the least part of a record that a sum can hold exactly: the rows of one person count
// for parts of 1 that are multiples of it and add up to 1.
const shareStep = 0x1p-20

// CountGrid returns the grid for counts that receive noise of standard deviation std: that of
// [ShareGrid] where rows count for parts of 1, that of [GridFor] where each counts 1.
func CountGrid(std float64, parts bool) float64 {
	if parts {
		return ShareGrid(std)
	}
	return GridFor(std)
}

// ShareGrid returns the grid for counts to which rows add parts of 1 by [FixedSum.AddShare], and
// that receive noise of standard deviation std: that of [GridFor], or 2^-20 where it is finer.
func ShareGrid(std float64) float64 { return min(GridFor(std), shareStep) }

// AddShare adds a part of 1 to coordinate i, which must be a multiple of 2^-20: exactly, so that
// parts that add up to 1 count as much as 1.
//
// It panics at a part of less than 1 on a sum whose grid is coarser than that of [ShareGrid], on
// which they would not.
func (s *FixedSum) AddShare(i int, share float64) {
	if share == 1 {
		s.AddInt(i, 1)
		return
	}
	if s.grid > shareStep {
		panic("mechanism: shares on a grid that cannot hold them")
	}
	s.sum[i] += steps(share * s.inverse)
}
