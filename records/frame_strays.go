package records

// Strays returns the number of cells of a column that hold a value that the column does not allow;
// see [Frame.Stray]. The number has no noise.
//
// Guarantee: none.
func (f *Frame) Strays(column int) (n int) {
	if f.Len() > 0 {
		f.schema.table.cells[column].problems(&f.cells[column], func(int, string) { n++ })
	}
	return n
}
