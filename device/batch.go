package device

// Batch holds the records that a model reads, either in Dense or in Sparse, but not in both.
//
// Dense may be in host memory for any backend. The code that multiplies Dense copies it to the
// device if needed (see Colocate).
//
// Labels, Index and Keys are nil if they are not needed; otherwise they have one entry for each
// row.
type Batch struct {
	Rows   int
	Dense  Matrix
	Sparse *Sparse
	Labels []int32  // class of each record
	Index  []int32  // row number of each record in the data set
	Keys   []uint64 // a uniformly random key for each row, for a model's per-example randomness
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
