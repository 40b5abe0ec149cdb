package records_test

import (
	"errors"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func dense(t *records.Table) *mat.Dense {
	return mat.NewDense(t.Len(), t.Schema().Dim(), t.Float64s())
}

func TestMatrixThereAndBack(t *testing.T) {
	s := records.Interval(3, -1, 1).WithLabels("a", "b")
	m := mat.NewDense(2, 3, []float64{-1, 0.5, 1, 0, 0.25, -0.75})
	table, err := records.FromMatrix(s, m, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Check(table); err != nil {
		t.Error(err)
	}
	if !slices.Equal(table.Row(nil, 1), []float32{0, 0.25, -0.75}) || table.Label(1) != 0 {
		t.Errorf("row 1 is %v of class %d", table.Row(nil, 1), table.Label(1))
	}
	if back := dense(table); !mat.Equal(back, m) {
		t.Errorf("got %v, want %v", back, m)
	}
	m.Set(0, 0, 0)
	if v := table.Row(nil, 0)[0]; v != -1 {
		t.Errorf("the table follows a change of the matrix: %v", v)
	}
	turned, err := records.FromMatrix(records.Interval(2, -1, 1), m.T())
	if err != nil {
		t.Fatal(err)
	}
	if got := dense(turned); !mat.Equal(got, m.T()) {
		t.Errorf("of a transposed matrix: got %v", got)
	}
}

func TestMatrixOfBytes(t *testing.T) {
	table, err := records.FromBytes(records.Interval(2, 0, 9), []byte{0, 85, 170, 255})
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(2, 2, []float64{0, 3, 6, 9})
	if got := dense(table); !mat.EqualApprox(got, want, 1e-6) {
		t.Errorf("got %v", got)
	}
	if len(table.Take(nil).Float64s()) != 0 {
		t.Error("no records have values")
	}
}

func TestMatrixShapesAreChecked(t *testing.T) {
	s := records.Binary(3)
	refuses := func(name string, s records.Schema, m mat.Matrix, labels ...int32) {
		t.Helper()
		_, err := records.FromMatrix(s, m, labels...)
		if shape := (*param.Error)(nil); !errors.As(err, &shape) {
			t.Errorf("%s: error %v, want a param.Error", name, err)
		}
	}
	refuses("wide", s, mat.NewDense(2, 4, nil))
	refuses("nothing", s, nil)
	refuses("unwanted labels", s, mat.NewDense(2, 3, nil), 1, 1)
	refuses("missing labels", s.WithLabels("a", "b"), mat.NewDense(2, 3, nil))
	refuses("zero schema", records.Schema{}, mat.NewDense(2, 3, nil))
	refuses("sets", records.Sets(3, 3), mat.NewDense(2, 3, nil))
}
