package records_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestNoRecordsAreAnError: nil records are an error, not a panic, in every function that takes
// records.
func TestNoRecordsAreAnError(t *testing.T) {
	sets, out := records.Sets(3, 2), new(bytes.Buffer)
	table := must(records.NewSchema(records.Numeric("x", 0, 1)))(t)
	_, concat := records.Concat(sets, nil)
	nothing := func(yield func(records.Data, error) bool) { yield(nil, nil) }
	for name, err := range map[string]error{
		"Check":             records.Check(nil),
		"Concat":            concat,
		"EachSet":           records.EachSet(nil, nil),
		"WriteTransactions": records.WriteTransactions(out, nil),
		"WriteFrame":        records.CSV{}.WriteFrame(out, nil),
		"WriteFrames":       records.CSV{}.WriteFrames(out, table, nothing),
	} {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
	if records.WithUnit(nil, records.UnitUser) != nil {
		t.Error("WithUnit(nil, …) is not nil")
	}
}
