package device

import "fmt"

// Sparse is a matrix of zeros and ones, stored as the positions of its ones (compressed sparse
// rows). The ones of row i are in the columns Items[Offsets[i]:Offsets[i+1]]. A Sparse is always in
// host memory. If a row lists a column several times, the column counts that many times.
//
// Shapes: Offsets has one entry more than there are rows. A nil Offsets means that there are no
// rows.
type Sparse struct {
	Cols    int
	Offsets []int
	Items   []uint32
}

// Rows returns the number of rows.
func (s *Sparse) Rows() int { return max(len(s.Offsets)-1, 0) }

// Row returns the columns in which row i has ones.
func (s *Sparse) Row(i int) []uint32 { return s.Items[s.Offsets[i]:s.Offsets[i+1]] }

// Slice returns a view of rows lo to hi−1. It panics if s does not have them.
func (s *Sparse) Slice(lo, hi int) *Sparse {
	if lo < 0 || hi < lo || hi > s.Rows() {
		panic(fmt.Sprintf("device: slice [%d:%d] of %d sparse rows", lo, hi, s.Rows()))
	}
	if hi == lo {
		return &Sparse{Cols: s.Cols}
	}
	return &Sparse{Cols: s.Cols, Offsets: s.Offsets[lo : hi+1], Items: s.Items}
}

// check panics unless every item is the number of a column.
func (s *Sparse) check(what string) {
	for i := range s.Rows() {
		for _, item := range s.Row(i) {
			if int64(item) >= int64(s.Cols) {
				// The item and its row are private.
				panic(fmt.Sprintf("device: %s: a row lists an item outside the %d columns", what, s.Cols))
			}
		}
	}
}
