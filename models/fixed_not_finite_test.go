package models

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestFixedSumsLeaveOutRecordsThatAreNotFinite: a record that is not finite has weight 0, and the
// fixed-point sum is the same as without the record. Since 0·NaN is NaN, its conversion to an
// integer would add an arbitrary number.
func TestFixedSumsLeaveOutRecordsThatAreNotFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range fixedCases(t) {
		if c.batch.Sparse != nil {
			continue // items are whole numbers
		}
		t.Run(name, func(t *testing.T) {
			form := c.net.Gradients(c.batch.Slice(0, 1)).(FixedGradients).FixedForm()
			slack := int32(0)
			if _, ok := c.net.(FixedFinisher); ok {
				slack = 3
			}
			for _, bad := range []float32{nan, inf, -inf} {
				for _, i := range []int{0, c.batch.Rows / 2, c.batch.Rows - 1} {
					spoilt := withRow(c.batch, i, bad)
					with := fixedSum(c.net, form, spoilt, 0.75, 1)
					less := fixedSum(c.net, form, without(spoilt, i), 0.75, 1)
					compareUnits(t, "with a record that is not finite", with.Units, less.Units, slack)
				}
			}
		})
	}
}

// withRow returns a copy of the batch with one coordinate of row i replaced.
func withRow(b device.Batch, i int, value float32) device.Batch {
	m := device.HostMatrix(b.Rows, b.Dense.Cols, make([]float32, b.Rows*b.Dense.Cols))
	for r := range b.Rows {
		copy(m.Row(r), b.Dense.Row(r))
	}
	m.Row(i)[b.Dense.Cols/2] = value
	b.Dense = m
	return b
}
