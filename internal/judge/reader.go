package judge

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

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

// ToUnit scales dense records from the schema's public bounds to [0, 1], so one learning rate suits
// all coordinates.
func ToUnit(s records.Schema, b *device.Batch) {
	lo, hi := s.Bounds()
	if b.Sparse != nil || lo == 0 && hi == 1 {
		return
	}
	shift, scale := float32(lo), float32(1/(hi-lo))
	for i := range b.Rows {
		row := b.Dense.Row(i)
		for j := range row {
			row[j] = (row[j] - shift) * scale
		}
	}
}
