package records

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/param"
)

// FromMatrix returns a table with a copy of a matrix, one record per row.
//
// Shapes: m has as many columns as the schema has dimensions. labels has one entry for each row if
// the schema has classes, otherwise none.
// Errors: *[param.Error], about shapes only: values are clamped when they are read.
// [Check] is their strict test.
func FromMatrix(s Schema, m mat.Matrix, labels ...int32) (*Table, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, param.New("records.FromMatrix.m", nil, "a matrix")
	}
	n, dim := m.Dims()
	if dim != s.Dim() {
		return nil, param.New("records.FromMatrix.m", fmt.Sprintf("%d columns", dim),
			fmt.Sprintf("%d columns", s.Dim()))
	}
	flat := make([]float32, 0, n*dim)
	for i := range n {
		for j := range dim {
			flat = append(flat, float32(m.At(i, j)))
		}
	}
	return FromFlat(s, flat, labels...)
}

// Dense returns a float64 copy of the encoded records, one per row. The matrix of a table without
// records is empty.
func (t *Table) Dense() *mat.Dense {
	if t.Len() == 0 {
		return &mat.Dense{}
	}
	m := mat.NewDense(t.Len(), t.Schema().Dim(), nil)
	var row []float32
	for i := range t.Len() {
		row = t.Row(row, i)
		for j, v := range row {
			m.Set(i, j, float64(v))
		}
	}
	return m
}
