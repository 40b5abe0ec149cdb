package device_test

import (
	"sync/atomic"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestShareRunsEveryPieceOnce checks Share. It also calls Share inside a piece while other cores
// are busy.
func TestShareRunsEveryPieceOnce(t *testing.T) {
	for workers := 1; workers <= 3; workers++ {
		be := device.CPUWith(workers).(device.Sharing)
		for _, pieces := range []int{0, 1, 2, 7, 100} {
			done := make([]atomic.Int32, pieces)
			be.Share(pieces, func(i int) {
				be.Share(1, func(int) { done[i].Add(1) })
			})
			for i := range done {
				if n := done[i].Load(); n != 1 {
					t.Fatalf("%d workers: piece %d of %d ran %d times", workers, i, pieces, n)
				}
			}
		}
	}
}

func TestShareDoesNotAllocate(t *testing.T) {
	be := device.CPUWith(2).(device.Sharing)
	var n atomic.Int64
	piece := func(int) { n.Add(1) }
	be.Share(3, piece)
	if a := testing.AllocsPerRun(50, func() { be.Share(3, piece) }); a > 0 {
		t.Errorf("%v allocations, want 0", a)
	}
}
