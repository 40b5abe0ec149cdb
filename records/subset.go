package records

// Take returns a table of copies of the given rows, in the given order.
func (t *Table) Take(rows []int32) *Table {
	out := t.clone()
	out.n = len(rows)
	out.labels = t.labels.take(rows)
	out.flat = takeRows(t.flat, rows, t.schema.dim)
	out.bytes = takeRows(t.bytes, rows, t.schema.dim)
	return out
}

func takeRows[T any](flat []T, rows []int32, dim int) []T {
	if flat == nil {
		return nil
	}
	out := make([]T, 0, len(rows)*dim)
	for _, i := range rows {
		out = append(out, flat[int(i)*dim:(int(i)+1)*dim]...)
	}
	return out
}

// Slice returns the table of rows lo … hi-1, sharing storage.
func (t *Table) Slice(lo, hi int) *Table {
	out := t.clone()
	dim := t.schema.dim
	out.n = hi - lo
	out.labels = t.labels.slice(lo, hi)
	if t.bytes != nil {
		out.bytes = t.bytes[lo*dim : hi*dim]
	} else {
		out.flat = t.flat[lo*dim : hi*dim]
	}
	return out
}

// WithoutLabels returns the same records without classes, sharing storage.
func (t *Table) WithoutLabels() *Table {
	out := t.clone()
	out.schema = t.schema.WithoutLabels()
	out.labels = column{}
	return out
}

// RowsByLabel returns the rows of each class. The lists are as private as the labels.
func (t *Table) RowsByLabel() [][]int32 { return t.labels.byClass() }
