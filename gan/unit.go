package gan

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// unit maps a schema's coordinates to [0,1], where both networks work, and back. Its zero value leaves them as they
// are.
type unit struct{ lo, width float32 }

func unitOf(s records.Schema) unit {
	lo, hi := s.Bounds()
	if s.Kind() != records.IntervalVector || lo == 0 && hi == 1 {
		return unit{}
	}
	return unit{float32(lo), float32(hi - lo)}
}

// shrunk is the batch in [0,1], in scratch if it has to be copied. A record depends on itself alone.
func (u unit) shrunk(b device.Batch, scratch *[]float32) device.Batch {
	if u.width == 0 || b.Rows == 0 {
		return b
	}
	n := b.Rows * b.Dense.Cols
	if cap(*scratch) < n {
		*scratch = make([]float32, n+n/4)
	}
	m := device.HostMatrix(b.Rows, b.Dense.Cols, (*scratch)[:n])
	for i := range b.Rows {
		row := m.Row(i)
		for j, v := range b.Dense.Row(i) {
			row[j] = (v - u.lo) / u.width
		}
	}
	b.Dense = m
	return b
}

// stretch is the inverse.
func (u unit) stretch(values []float32) {
	if u.width == 0 {
		return
	}
	for i, v := range values {
		values[i] = u.lo + u.width*v
	}
}
