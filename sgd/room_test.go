package sgd

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/models"
)

// TestRoomCountsTheBatchThatIsAdded: whole numbers have room for most records. A batch that finds
// too little room is added after the sum was carried, and takes room itself. No unit ever holds
// more records than there is room for, and none is lost.
func TestRoomCountsTheBatchThatIsAdded(t *testing.T) {
	const most = 10
	for _, batch := range []int{1, 3, 6, 9, 10} {
		f := &fixedSum{most: most, size: 2, host: device.Fixed{Units: make([]int32, 2)}}
		for added := range 8 {
			f.room(batch)
			for i := range f.host.Units {
				f.host.Units[i] += int32(batch) // each record adds 1
			}
			held, all := int(f.host.Units[1]), int(f.host.Units[1])
			if f.host.Carry != nil {
				all += int(f.host.Carry[1])
			}
			if held > most || all != (added+1)*batch {
				t.Fatalf("batches of %d: the units hold %d records of %d, want at most %d of %d", batch,
					held, all, most, (added+1)*batch)
			}
		}
	}
}

// TestRoomCountsTheBatchOfADevice: the same holds if a device has the whole numbers.
func TestRoomCountsTheBatchOfADevice(t *testing.T) {
	be := devicetest.SeparateMemory(device.CPU()).(device.FixedSummer)
	shape := device.Shape{Rows: 1, Cols: 2}
	f := &fixedSum{most: 10, size: 2, sum: device.NewFixed(be, shape),
		host: device.NewFixed(device.CPU(), shape)}
	f.sum.Unit, f.host.Unit, f.sum.Chain = 1, 1, 1
	ones := be.New(4, 2)
	be.Fill(ones, 1)
	for added := range 8 {
		f.room(4)
		be.AddFixedRows([]float32{3, 3, 3, 3}, ones, f.sum.Block(0)) // each record adds 3
		if want := added / 2 * 24; want > 0 && f.carry[1] != float64(want) {
			t.Fatalf("%d batches: %v was carried over, want %d", added+1, f.carry[1], want)
		}
	}
	if f.collect(); f.host.Units[1] != 24 {
		t.Errorf("the units hold %d, want 24", f.host.Units[1])
	}
}

// TestChainsAreExact: a chain may end one record's terms and begin another's, each at the largest
// partial sum, around records that are in it as a whole. The total stays below 2²² units, below
// which float32 multiply-adds are exact.
func TestChainsAreExact(t *testing.T) {
	for _, form := range []models.FixedForm{{Terms: 1, Reach: 1}, {Terms: 4, Reach: 1},
		{Terms: 8, Reach: 3}, {Terms: 100, Reach: 8}} {
		for _, bound := range []float64{1 << 10, 1 << 14, 50_000} {
			f := &fixedSum{form: form}
			n := f.chain(bound)
			if n < 8 {
				t.Errorf("%+v, bound %v: a chain of %d products: the test has no power", form, bound, n)
			}
			half := float64(form.Terms) / 2
			most := 2*(float64(form.Reach)*bound+half) + float64(n-2)*(bound+half)
			if most >= 1<<22 {
				t.Errorf("%+v, bound %v: a chain of %d products reaches %v units", form, bound, n, most)
			}
		}
	}
}
