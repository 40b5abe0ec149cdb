package device

// Batch holds some records as the input of a model, in exactly one of Dense and Sparse.
//
// Dense may live on the host with any backend; the code that multiplies it copies it if
// needed (see Colocate).
//
// Labels, Index and Keys are nil if they are not needed and have one entry per row otherwise.
type Batch struct {
	Rows   int
	Dense  Matrix
	Sparse *Sparse
	Labels []int32  // class of each record
	Index  []int32  // row number of each record in the data set
	Keys   []uint64 // one uniform key a row, for a model's per-example randomness
}

// Dim returns the number of columns.
func (b Batch) Dim() int {
	if b.Sparse != nil {
		return b.Sparse.Cols
	}
	return b.Dense.Cols
}

// Slice returns the view of records lo to hi−1.
func (b Batch) Slice(lo, hi int) Batch {
	out := Batch{
		Rows:   hi - lo,
		Labels: sliceOrNil(b.Labels, lo, hi),
		Index:  sliceOrNil(b.Index, lo, hi),
		Keys:   sliceOrNil(b.Keys, lo, hi),
	}
	if b.Sparse != nil {
		out.Sparse = b.Sparse.Slice(lo, hi)
	} else {
		out.Dense = b.Dense.RowRange(lo, hi)
	}
	return out
}

func sliceOrNil[T any](s []T, lo, hi int) []T {
	if s == nil {
		return nil
	}
	return s[lo:hi]
}
