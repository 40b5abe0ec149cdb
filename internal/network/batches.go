package network

import (
	"context"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// mostCoordinates is the largest number of coordinates of a dense batch, which take 16 MiB.
const mostCoordinates = 1 << 22

// EachBatch reads all records in order and calls f for every batch. A batch has size records, or
// fewer if records are very wide; lo is the number of its first record. A batch is valid until f
// returns.
//
// Errors: ctx.Err().
func EachBatch(ctx context.Context, data records.Data, size int,
	f func(lo int, b device.Batch)) error {
	if s := data.Schema(); !s.Sparse() {
		size = min(size, max(mostCoordinates/max(s.Dim(), 1), 1))
	}
	var b device.Batch
	err := ctx.Err() // also without rows: whether there are any must not be seen
	for lo := 0; lo < data.Len() && err == nil; lo += size {
		data.Range(lo, min(lo+size, data.Len()), &b)
		f(lo, b)
		err = ctx.Err()
	}
	return err
}

// EachNonzeros is EachBatch for the rows of a table. It reads only the coordinates that are not
// zero.
func EachNonzeros(ctx context.Context, data records.Data, size int,
	f func(lo int, z *records.Nonzeros)) error {
	var z records.Nonzeros
	err := ctx.Err() // as in EachBatch
	for lo := 0; lo < data.Len() && err == nil; lo += size {
		z.Range(data, lo, min(lo+size, data.Len()))
		f(lo, &z)
		err = ctx.Err()
	}
	return err
}
