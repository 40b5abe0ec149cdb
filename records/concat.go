package records

import "github.com/seed7ba64551/privgen/device"

// Concat joins data of one schema into a single table, in order: a [*SetTable] for
// sets, a [*Table] otherwise. No parts make an empty table.
//
// Errors: *ShapeError where a part has another schema.
func Concat(s Schema, parts ...Data) (Data, error) {
	n := 0
	for _, p := range parts {
		if !p.Schema().Equal(s) {
			return nil, &ShapeError{Path: "records.Concat", Value: p.Schema().String(), Want: s.String()}
		}
		n += p.Len()
	}
	if s.Sparse() {
		return concatSets(s, parts)
	}
	return concatRows(s, n, parts)
}

func concatRows(s Schema, n int, parts []Data) (Data, error) {
	flat := make([]float32, 0, n*s.Dim())
	var labels []int32
	var b device.Batch
	for _, p := range parts {
		p.Range(0, p.Len(), &b)
		for i := range b.Rows {
			flat = append(flat, b.Dense.Row(i)...)
		}
		labels = append(labels, b.Labels...)
	}
	return FromFlat(s, flat, labels...)
}

func concatSets(s Schema, parts []Data) (Data, error) {
	offsets, items, labels := []int{0}, []uint32(nil), []int32(nil)
	var b device.Batch
	for _, p := range parts {
		p.Range(0, p.Len(), &b)
		for i := range b.Rows {
			items = append(items, b.Sparse.Items[b.Sparse.Offsets[i]:b.Sparse.Offsets[i+1]]...)
			offsets = append(offsets, len(items))
		}
		labels = append(labels, b.Labels...)
	}
	return FromCSR(s, offsets, items, labels...)
}
