package gan

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
)

// unit maps records to [0,1], the domain of both networks. It has scratch memory for a batch.
type unit struct {
	network.Unit
	flat []float32
}

// shrunk returns the batch scaled to [0, 1]. If the batch changes, shrunk returns a copy, because
// the caller owns b. Each row of the result depends only on the same row of b.
func (u *unit) shrunk(b device.Batch) device.Batch {
	if !u.Moves() || b.Rows == 0 {
		return b
	}
	n := b.Rows * b.Dense.Cols
	if cap(u.flat) < n {
		u.flat = make([]float32, n+n/4)
	}
	m := device.HostMatrix(b.Rows, b.Dense.Cols, u.flat[:n])
	for i := range b.Rows {
		copy(m.Row(i), b.Dense.Row(i))
	}
	u.Shrink(m.Data)
	b.Dense = m
	return b
}
