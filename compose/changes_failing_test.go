package compose_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// breaking is data of which record 7 cannot be read after the flag is set.
type breaking struct {
	records.Data
	broken *bool
}

func (d breaking) Gather(rows []int32, b *device.Batch) {
	for _, row := range rows {
		d.look(int(row), int(row)+1)
	}
	d.Data.Gather(rows, b)
}

func (d breaking) Range(lo, hi int, b *device.Batch) {
	d.look(lo, hi)
	d.Data.Range(lo, hi, b)
}

func (d breaking) look(lo, hi int) {
	if *d.broken && lo <= 7 && 7 < hi {
		panic("private value 7")
	}
}

// TestDataThatFailBeforeTheChoice: if a record cannot be read when utilities are counted, nothing
// is chosen, and the error is the one of all failures of data.
func TestDataThatFailBeforeTheChoice(t *testing.T) {
	data, broken := stripes(t), false
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	p := must(changesOf(data.Schema(), data.Len()).PlanFor(data.Schema(), b))(t)
	last := ""
	gen, err := p.Fit(t.Context(), breaking{data, &broken}, synth.OnProgress(func(now synth.Progress) {
		last, broken = now.Stage, true
	}))
	if !errors.Is(err, synth.ErrData) || gen != nil {
		t.Errorf("got error %v, want synth.ErrData", err)
	}
	if last == "choice of a change" {
		t.Error("a change is chosen by data that failed")
	}
}
