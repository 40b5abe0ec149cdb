package synthtest

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// testFailingData runs a plan on data of a user-defined type that panic or return other rows than
// requested. Every such run must end with ErrData, even if another goroutine reads the records.
// ErrData reveals nothing about the records.
func (s Subject) testFailingData(t *testing.T) {
	p, data := s.quickest(t, budgetOf(accountant.AddOrRemoveOne), 0)
	for what, d := range map[string]failing{
		"rows panic":        {Data: data, rows: true},
		"the length panics": {Data: data, length: true},
		"other rows":        {Data: data, others: true},
		"a negative size":   {Data: data, size: -1},
		"sizes too large":   {Data: data, size: math.MaxInt / 8},
		"panics later on":   {Data: data, rows: true, after: new(atomic.Int32)},
		"longer than real":  {Data: data, size: data.Len() + 30, rows: true, after: new(atomic.Int32)},
	} {
		if d.size > math.MaxInt/16 && strconv.IntSize == 32 {
			continue // so many rows are possible, and each of them would be read
		}
		_, err := p.Fit(t.Context(), d)
		if err == nil && d.after != nil && d.after.Load() < 2 {
			t.Logf("%s: the system reads the records once", what)
			continue
		}
		if !errors.Is(err, synth.ErrData) {
			t.Errorf("%s: got error %v, want ErrData", what, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "0123456789") {
			t.Errorf("%s: the error contains a number: %v", what, err)
		}
	}
}

// failing violates the contract of records.Data, or watches reads.
type failing struct {
	records.Data
	rows, length, others bool
	size                 int
	after                *atomic.Int32 // counts reads, only the first of which succeeds; or nil
	read                 func()        // called at every read; or nil
}

func (f failing) Len() int {
	if f.length {
		panic("a private length of 12345")
	}
	if f.size != 0 {
		return f.size
	}
	return f.Data.Len()
}

func (f failing) reads() {
	if f.read != nil {
		f.read()
	}
	if f.rows && (f.after == nil || f.after.Add(1) > 1) {
		panic("a private value of 12345")
	}
}

func (f failing) Gather(rows []int32, b *device.Batch) {
	f.reads()
	if f.others && len(rows) > 0 {
		rows = rows[1:]
	}
	f.Data.Gather(rows, b)
}

func (f failing) Range(lo, hi int, b *device.Batch) {
	f.reads()
	if f.others && hi > lo {
		hi--
	}
	f.Data.Range(lo, hi, b)
}
