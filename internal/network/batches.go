package network

import (
	"context"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// EachBatch reads all records in order, n at a time; lo is the number of the first. A batch is
// valid until f returns.
//
// Errors: ctx.Err().
func EachBatch(ctx context.Context, data records.Data, size int,
	f func(lo int, b device.Batch)) error {
	var b device.Batch
	for lo := 0; lo < data.Len(); lo += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		data.Range(lo, min(lo+size, data.Len()), &b)
		f(lo, b)
	}
	return nil
}
