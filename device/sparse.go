package device

import "fmt"

// Sparse is a matrix of zeros and ones held by the positions of its ones (compressed sparse rows):
// the ones of row i stand in the columns Items[Offsets[i]:Offsets[i+1]]. It always lives on the
// host. A column that is repeated within a row counts as often as it stands there.
//
// Shapes: Offsets has one entry more than there are rows; a nil Offsets means no rows.
type Sparse struct {
	Cols    int
	Offsets []int
	Items   []uint32
}

// Rows returns the number of rows.
func (s *Sparse) Rows() int { return max(len(s.Offsets)-1, 0) }

// Row lists the columns in which row i has its ones.
func (s *Sparse) Row(i int) []uint32 { return s.Items[s.Offsets[i]:s.Offsets[i+1]] }

// Slice returns the view of rows lo to hi−1.
func (s *Sparse) Slice(lo, hi int) *Sparse {
	if lo < 0 || hi < lo || hi > s.Rows() {
		panic(fmt.Sprintf("device: rows [%d:%d] of %d sparse rows", lo, hi, s.Rows()))
	}
	if hi == lo {
		return &Sparse{Cols: s.Cols}
	}
	return &Sparse{Cols: s.Cols, Offsets: s.Offsets[lo : hi+1], Items: s.Items}
}

// check panics unless every item names a column.
func (s *Sparse) check(what string) {
	for i := range s.Rows() {
		for _, item := range s.Row(i) {
			if int64(item) >= int64(s.Cols) {
				panic(fmt.Sprintf("device: %s: a sparse row names a column outside its %d", what, s.Cols))
			}
		}
	}
}
