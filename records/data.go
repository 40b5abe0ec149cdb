package records

import (
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// Data is a set of sensitive records, as the private algorithms read them.
//
// Gather and Range never fail or panic because of a record's value: every value is clamped into the
// schema. They reuse the buffers of the batch, so a loop with one batch allocates nothing after its
// largest read. They set Rows, Dense or Sparse, Labels (nil if the schema has no classes) and
// Index; they do not change the batch's Keys. Any number of goroutines may read concurrently into
// separate batches.
type Data interface {
	// Schema returns the public description of the records.
	Schema() Schema
	// Len returns the number of records. It is private if neighbouring data sets differ in size: then
	// only a run with a ledger may use it.
	Len() int
	// Gather copies the given rows into b. A row number outside [0, Len) is a
	// programming error and panics.
	Gather(rows []int32, b *device.Batch)
	// Range copies rows lo … hi-1 into b.
	Range(lo, hi int, b *device.Batch)
}

// resize returns s with length n, reusing its buffer if that is large enough.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// denseBuffer prepares b for n dense rows of dim and returns their storage.
func denseBuffer(b *device.Batch, n, dim int) []float32 {
	data := resize(b.Dense.Data, n*dim)
	b.Rows = n
	b.Dense = device.Matrix{Rows: n, Cols: dim, Stride: dim, Data: data}
	b.Sparse = nil
	return data
}

// sparseBuffer prepares b for n sparse rows over a universe of dim items.
func sparseBuffer(b *device.Batch, n, dim int) *device.Sparse {
	if b.Sparse == nil {
		b.Sparse = &device.Sparse{}
	}
	b.Rows = n
	b.Dense = device.Matrix{}
	b.Sparse.Cols = dim
	b.Sparse.Offsets = resize(b.Sparse.Offsets, n+1)
	b.Sparse.Offsets[0] = 0
	b.Sparse.Items = b.Sparse.Items[:0]
	return b.Sparse
}

// indexRows copies the row numbers to b.Index. rows may be b.Index itself.
func indexRows(b *device.Batch, rows []int32) { b.Index = append(b.Index[:0], rows...) }

// indexRange writes the row numbers lo … hi-1.
func indexRange(b *device.Batch, lo, hi int) {
	b.Index = resize(b.Index, hi-lo)
	for i := range b.Index {
		b.Index[i] = int32(lo + i)
	}
}
