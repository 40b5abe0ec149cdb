package records

// Strays returns the number of cells of a column that hold a value that the column does not allow;
// see [Frame.Stray]. The number has no noise.
//
// Guarantee: none.
func (f *Frame) Strays(column int) (n int) {
	for i := range f.Len() {
		if f.Stray(i, column) {
			n++
		}
	}
	return n
}
