package rff

// A SparseEmbedding can list the nonzero features of a record, which are few for a row of a table.
// The cost of a sum over many records then depends on the number of nonzero features, not on Dim.
type SparseEmbedding interface {
	Embedding
	// AppendRow appends the indices and the values of the nonzero features of one record, and returns
	// the extended slices. The record is given by its nonzero coordinates: in holds their indices,
	// ascending, and x their values. The appended values are the values that Transform writes.
	//
	// Shapes: in and x have the same length, at most In. The appended indices are ascending and below
	// Dim.
	AppendRow(in []int32, x []float32, places []int32, values []float32) ([]int32, []float32)
}

// listed holds the nonzero features of all axes of one record.
type listed struct {
	ends   []int // for each axis, the end of its features in the lists
	places []int32
	values []float32
}

// of returns the features of axis k.
func (l *listed) of(k int) (places []int32, values []float32) {
	first := 0
	if k > 0 {
		first = l.ends[k-1]
	}
	return l.places[first:l.ends[k]], l.values[first:l.ends[k]]
}

// list lists the nonzero features of every axis. Axes read consecutive ranges of
// coordinates, from the first to the last.
func (t *pairsMap) list(l *listed, in []int32, x []float32) {
	l.ends, l.places, l.values = l.ends[:0], l.places[:0], l.values[:0]
	for _, a := range t.axes {
		n := 0
		for n < len(in) && int(in[n]) < a.end() {
			n++
		}
		l.places, l.values = a.list(in[:n], x[:n], l.places, l.values)
		l.ends = append(l.ends, len(l.places))
		in, x = in[n:], x[n:]
	}
}

// AppendRow implements [SparseEmbedding]. Its time is proportional to the number of terms plus the
// number of nonzero features.
func (t *pairsMap) AppendRow(in []int32, x []float32, places []int32,
	values []float32) ([]int32, []float32) {
	w := t.workspace()
	defer t.pool.Put(w)
	t.list(&w.listed, in, x)
	one, whole := [1]int32{}, [1]float32{1}
	at := 0
	for _, m := range t.terms {
		rows, factors := one[:], whole[:]
		if len(m.axes) == 2 {
			rows, factors = w.listed.of(m.axes[0])
		}
		columns, last := w.listed.of(m.axes[len(m.axes)-1])
		width := t.axes[m.axes[len(m.axes)-1]].width()
		for i, row := range rows {
			a := m.scale * factors[i]
			if a == 0 {
				continue
			}
			for j, column := range columns {
				places = append(places, int32(at+int(row)*width+int(column)))
				values = append(values, a*last[j])
			}
		}
		at += m.size
	}
	return places, values
}
