package judge

import (
	"iter"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Selection holds some rows of other data.
type Selection struct {
	Of   records.Data
	Rows []int32
}

// Schema returns the schema of the data.
func (r Selection) Schema() records.Schema { return r.Of.Schema() }

// Len returns the number of selected rows.
func (r Selection) Len() int { return len(r.Rows) }

// Range reads some of the selected rows, in order.
func (r Selection) Range(lo, hi int, b *device.Batch) { r.Of.Gather(r.Rows[lo:hi], b) }

// Gather reads selected rows by their place in the selection.
func (r Selection) Gather(rows []int32, b *device.Batch) {
	picked := make([]int32, len(rows))
	for i, row := range rows {
		picked[i] = r.Rows[row]
	}
	r.Of.Gather(picked, b)
}

// Rows returns some rows of the data: a frame of a frame, otherwise a selection.
func Rows(d records.Data, rows []int32) records.Data {
	if f, ok := records.AsFrame(d); ok {
		return f.Take(rows)
	}
	return Selection{records.Clamped(d), rows}
}

// InSchema returns the same records clamped into their schema, since Data may be a user-defined
// type.
func InSchema(d records.Data) records.Data {
	if some, ok := d.(Selection); ok {
		return Selection{records.Clamped(some.Of), some.Rows}
	}
	return records.Clamped(d)
}

// Batches reads all records, some at a time, and yields the number of the first of them, too.
func Batches(d records.Data) iter.Seq2[int, *device.Batch] {
	return func(yield func(int, *device.Batch) bool) {
		const chunk = 1024
		var b device.Batch
		for lo := 0; lo < d.Len(); lo += chunk {
			if d.Range(lo, min(lo+chunk, d.Len()), &b); !yield(lo, &b) {
				return
			}
		}
	}
}

// Labels returns the labels of all records.
func Labels(d records.Data) []int32 {
	out := make([]int32, 0, d.Len())
	for _, b := range Batches(d) {
		out = append(out, b.Labels...)
	}
	return out
}

// Given returns an error if any of the data are nil.
func Given(path string, all ...records.Data) error {
	for _, d := range all {
		if d == nil {
			return param.New(path, nil, "records")
		}
	}
	return nil
}
