package sgd

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestRoomCountsTheBatchThatIsAdded: whole numbers have room for most records. A batch that finds
// too little room is added after the sum was carried, and takes room itself. No unit ever holds
// more records than there is room for, and none is lost.
func TestRoomCountsTheBatchThatIsAdded(t *testing.T) {
	const most = 10
	for _, batch := range []int{1, 3, 6, 9, 10} {
		f := &fixedSum{most: most, sum: device.Fixed{Units: make([]int32, 2)}}
		for added := range 8 {
			f.room(batch)
			for i := range f.sum.Units {
				f.sum.Units[i] += int32(batch) // each record adds 1
			}
			held, all := int(f.sum.Units[1]), int(f.sum.Units[1])
			if f.sum.Carry != nil {
				all += int(f.sum.Carry[1])
			}
			if held > most || all != (added+1)*batch {
				t.Fatalf("batches of %d: the units hold %d records of %d, want at most %d of %d", batch,
					held, all, most, (added+1)*batch)
			}
		}
	}
}
