package records_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestErrorsHideTheNumberOfRecords checks that errors and panics about a wrong number of values do
// not state the number of records, or a number that differs from it by one.
func TestErrorsHideTheNumberOfRecords(t *testing.T) {
	const n = 4243
	vectors := records.Binary(3).WithLabels("a", "b")
	plain, sets := records.Binary(3), records.Sets(9, 2)
	table := must(records.NewSchema(records.Numeric("x", 0, 1), records.Numeric("y", 0, 1)))(t)
	rows := must(records.FromFlat(plain, make([]float32, 3*n)))(t)
	numbers := func(n int) records.Values { return records.Values{Numbers: make([]float64, n)} }
	missing := numbers(n)
	missing.Missing = make([]bool, n-1)
	offsets := make([]int, n+1)
	offsets[n] = n
	for name, err := range map[string]error{
		"labels": second(records.FromFlat(vectors, make([]float32, 3*n), make([]int32, n-1)...)),
		"labels that are not declared": second(records.FromFlat(plain, make([]float32, 3*n),
			make([]int32, n)...)),
		"half a row": second(records.FromFlat(plain, make([]float32, 3*n+1))),
		"keys":       second(records.GroupBy(rows, make([]string, n-1), 2)),
		"more keys":  second(records.GroupBy(rows, make([]string, n+1), 2)),
		"offsets":    second(records.FromCSR(sets, offsets, make([]uint32, n-1))),
		"columns":    second(records.FromColumns(table, numbers(n), numbers(n-1))),
		"missing":    second(records.FromColumns(table, numbers(n), missing)),
		"nonzeros": second(records.DecodeNonzeros(table, &records.Nonzeros{Rows: n,
			Offsets: make([]int, n)})),
		"values of nonzeros": second(records.DecodeNonzeros(table, &records.Nonzeros{Rows: n,
			Offsets: offsets, Places: make([]int32, n), Values: make([]float32, n-1)})),
	} {
		if wrong := new(param.Error); !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v, want a *param.Error", name, err)
		} else if states(err.Error(), n) {
			t.Errorf("%s: the error states the number of records: %v", name, err)
		}
	}
	all := must(records.FromItems(sets, make([][]uint32, n)))(t)
	defer func() {
		if text := fmt.Sprint(recover()); text == "<nil>" || states(text, n) {
			t.Errorf("rows outside the table: got panic %q", text)
		}
	}()
	all.Range(0, 5000000, new(device.Batch))
}

// states reports whether a text contains n, 2n or 3n, or a number that differs from one of these by
// one.
func states(text string, n int) bool {
	for k := 1; k <= 3; k++ {
		for d := -1; d <= 1; d++ {
			if strings.Contains(text, fmt.Sprint(k*n+d)) {
				return true
			}
		}
	}
	return false
}
