package gan

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
)

// unit is a schema's map to [0,1], where both networks work, with room for a batch.
type unit struct {
	network.Unit
	ranks *distributions // the scale on which the networks see numbers of tables; nil for no scaling
	flat  []float32
}

// shrunk returns the batch scaled to [0, 1], in a copy if needed, since the caller owns b. Each
// row depends on itself only.
func (u *unit) shrunk(b device.Batch) device.Batch {
	if !u.Moves() && u.ranks == nil || b.Rows == 0 {
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
	u.ranks.rank(m)
	b.Dense = m
	return b
}
