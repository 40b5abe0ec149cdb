package sgd_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// ends panics at every read.
type ends struct{ records.Data }

func (ends) Gather([]int32, *device.Batch) { panic("7") }
func (ends) Range(int, int, *device.Batch) { panic("7") }

// TestDataThatFailEndTheTraining: training ends with records.ErrData after the step that read the
// data.
func TestDataThatFailEndTheTraining(t *testing.T) {
	trainer, ledger := newTrainer(t, with(nil, 1, 10), newCentre(2), 1e4)
	for _, err := range trainer.Steps(t.Context(), ends{table(t, 50, 2, 0)}) {
		if !errors.Is(err, records.ErrData) {
			t.Fatal(err)
		}
	}
	if e := ledger.Entries()[0]; e.Reserved != 10 || e.Spent != 1 {
		t.Errorf("%d of %d steps are spent, want 1 of 10", e.Spent, e.Reserved)
	}
}
