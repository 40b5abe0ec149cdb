package network

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

func TestUnitIsTotal(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	u := UnitOf(records.Interval(1, -1, 3))
	values := []float32{-1, 0, 3, 7, nan, inf, -inf}
	u.Shrink(values)
	if want := []float32{0, 0.25, 1, 1, 0, 1, 0}; !slices.Equal(values, want) {
		t.Errorf("Shrink gives %v, want %v", values, want)
	}
	u.Stretch(values[:3])
	if want := []float32{-1, 0, 3}; !slices.Equal(values[:3], want) || !u.Moves() {
		t.Errorf("Stretch gives %v, want %v", values[:3], want)
	}
	for _, s := range []records.Schema{records.Interval(1, 0, 1), records.Binary(2),
		records.Sets(9, 1)} {
		if UnitOf(s) != (Unit{}) {
			t.Errorf("the map of %v is not the identity", s)
		}
	}
}

// TestRecordsAreTheSchemas: for every output of a network, records satisfy the schema.
func TestRecordsAreTheSchemas(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range []records.Schema{records.Sets(9, 1), records.Sets(9, 4).WithLabels("a", "b"),
		records.Binary(9), records.Interval(9, -2, 5)} {
		flat, labels := make([]float32, 50*9), []int32(nil)
		for i := range flat {
			flat[i] = rng.Float32()
		}
		if s.Classes() > 0 {
			labels = make([]int32, 50)
		}
		data, err := Records(rng, s, false, flat, labels)
		if err != nil {
			t.Fatal(err)
		}
		if err := records.Check(data); err != nil || data.Len() != 50 {
			t.Errorf("%v: %d records, want 50 valid ones: %v", s, data.Len(), err)
		}
		if !s.Sparse() {
			continue
		}
		var b device.Batch
		full := 0
		data.Range(0, 50, &b)
		for i := range 50 {
			if len(b.Sparse.Row(i)) == s.MaxItems() {
				full++
			}
		}
		if full < 10 {
			t.Errorf("%v: %d of 50 sets are full, want at least 10", s, full)
		}
	}
}
