package compare

import "github.com/seed7ba64551/privgen/device"

// Reader reads the records of a batch as dense rows.
type Reader struct {
	b       device.Batch
	scratch []float32
}

// NewReader reads the records of b.
func NewReader(b device.Batch) *Reader {
	r := &Reader{b: b}
	if b.Sparse != nil {
		r.scratch = make([]float32, b.Sparse.Cols)
	}
	return r
}

// Row returns record i. It is valid until the next call.
func (r *Reader) Row(i int) []float32 {
	if r.b.Sparse == nil {
		return r.b.Dense.Row(i)
	}
	clear(r.scratch)
	for _, item := range r.b.Sparse.Row(i) {
		r.scratch[item] = 1
	}
	return r.scratch
}
