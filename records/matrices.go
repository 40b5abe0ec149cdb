package records

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// FromMatrix returns a table with a copy of a matrix, such as a gonum mat.Matrix, one record per
// row.
//
// Shapes: m has as many columns as the schema has dimensions. labels has one entry for each row if
// the schema has classes, otherwise none.
// Errors: *[param.Error], about shapes only: values are clamped when they are read. [Check] is
// their strict test.
func FromMatrix(s Schema, m interface {
	Dims() (rows, columns int)
	At(row, column int) float64
}, labels ...int32) (*Table, error) {
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

// Float64s returns a copy of the encoded records as one row-major slice. In a program that uses
// gonum, mat.NewDense(t.Len(), t.Schema().Dim(), t.Float64s()) is their matrix.
func (t *Table) Float64s() []float64 {
	out := make([]float64, 0, t.Len()*t.Schema().Dim())
	var row []float32
	for i := range t.Len() {
		row = t.Row(row, i)
		for _, v := range row {
			out = append(out, float64(v))
		}
	}
	return out
}
