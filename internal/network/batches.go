package network

import (
	"context"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// mostCoordinates bounds a dense batch, which then takes 16 MiB.
const mostCoordinates = 1 << 22

// EachBatch reads all records in order, n at a time, or fewer if they are very wide; lo is the
// number of the first. A batch is valid until f returns.
//
// Errors: ctx.Err().
func EachBatch(ctx context.Context, data records.Data, size int,
	f func(lo int, b device.Batch)) error {
	if s := data.Schema(); !s.Sparse() {
		size = min(size, max(mostCoordinates/max(s.Dim(), 1), 1))
	}
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

// EachNonzeros is EachBatch for rows of a table, of which it reads the coordinates that are not
// zero.
func EachNonzeros(ctx context.Context, data records.Data, size int,
	f func(lo int, z *records.Nonzeros)) error {
	var z records.Nonzeros
	for lo := 0; lo < data.Len(); lo += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		z.Range(data, lo, min(lo+size, data.Len()))
		f(lo, &z)
	}
	return nil
}
