package rff

// A SparseEmbedding can list the nonzero features of a record, which are few for a
// record of a table. The cost of a sum over many records then depends on their number,
// not on Dim.
type SparseEmbedding interface {
	Embedding
	// AppendRow appends the places and the values of the features of one record
	// that are not zero, and returns the longer slices. Values are those that
	// Transform writes.
	//
	// Shapes: x has In numbers.
	AppendRow(x []float32, places []int32, values []float32) ([]int32, []float32)
}

// sparseTensor is a tensor whose axes are mostly zero, with terms of at most two
// factors.
type sparseTensor struct {
	*tensor
	batch       *batchPool
	alone, both float64 // squared scales of single columns and of pairs
}

// AppendRow implements [SparseEmbedding].
func (t sparseTensor) AppendRow(x []float32, places []int32, values []float32) ([]int32,
	[]float32) {
	w := t.workspace()
	defer t.pool.Put(w)
	t.project(w, x)
	at := 0
	for _, m := range t.terms {
		last := t.of(m, len(m.axes)-1, w.p)
		for i, a := range t.partial(w, m) {
			if a == 0 {
				continue
			}
			for j, b := range last {
				if b != 0 {
					places, values = append(places, int32(at+i*len(last)+j)), append(values, a*b)
				}
			}
		}
		at += m.size
	}
	return places, values
}
