package evaluate_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// stray is a data set of a user-defined type whose records violate their schema.
type stray struct{ schema records.Schema }

func (d stray) Schema() records.Schema { return d.schema }
func (d stray) Len() int               { return 40 }

func (d stray) Range(lo, hi int, b *device.Batch) {
	rows := make([]int32, hi-lo)
	for i := range rows {
		rows[i] = int32(lo + i)
	}
	d.Gather(rows, b)
}

func (d stray) Gather(rows []int32, b *device.Batch) {
	*b = device.Batch{Rows: len(rows)}
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), -1e30, 0, 1}
	flat := make([]float32, len(rows)*d.schema.Dim())
	sets := &device.Sparse{Cols: d.schema.Dim(), Offsets: []int{0}}
	for i, row := range rows {
		for j := range d.schema.Dim() {
			flat[i*d.schema.Dim()+j] = odd[(int(row)+j)%len(odd)]
		}
		sets.Items = append(sets.Items, uint32(row)%7, 1000)
		sets.Offsets = append(sets.Offsets, len(sets.Items))
		b.Labels, b.Index = append(b.Labels, row*5-9), append(b.Index, row)
	}
	if d.schema.Sparse() {
		b.Sparse = sets
		return
	}
	b.Dense = device.HostMatrix(len(rows), d.schema.Dim(), flat)
}

// TestForeignRecordsAreReadAsTheirSchemaHasThem checks that comparisons return numbers or an error
// if records violate their schema.
func TestForeignRecordsAreReadAsTheirSchemaHasThem(t *testing.T) {
	d := stray{records.Interval(3, 0, 1).WithLabels("a", "b")}
	for _, m := range classify.Methods(d.schema, 1) {
		c, err := m.Fit(d)
		if err != nil {
			t.Errorf("%s: %v", m.Name(), err)
			continue
		}
		if _, err := c.Predict(d); err != nil {
			t.Errorf("%s: %v", m.Name(), err)
		}
		var wrong *param.Error
		if _, err := classify.Test(c, d); !errors.As(err, &wrong) {
			t.Errorf("%s: labels that do not exist: %v", m.Name(), err)
		}
	}
	similar, err := evaluate.Fidelity{Rows: 30}.Compare(d, d, d)
	if err != nil || math.IsNaN(similar.MMD.Synthetic) || math.IsNaN(similar.Shapes.Synthetic) {
		t.Errorf("%v: %v", similar, err)
	}
	if _, err := evaluate.JensenShannon(classify.GaussianBayes{}, d, d, d); err != nil {
		t.Error(err)
	}
	sets := stray{records.Sets(7, 2)}
	if _, err := (evaluate.Statistics{}).Compare(sets, sets); err != nil {
		t.Error(err)
	}
}
