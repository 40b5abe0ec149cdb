package judge

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

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
