package merf

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// layout is what features may know of encoded records: every coordinate in [0,1].
func layout(s records.Schema) rff.Layout {
	l := rff.Layout{In: s.Dim(), Blocks: tableBlocks(s)}
	if s.IsImage() {
		l.Height, l.Width = s.Height(), s.Width()
	}
	return l
}

// unit maps a schema's coordinates to [0,1] and back.
type unit struct{ lo, width float32 }

// unitOf is the map of a schema; its zero value leaves coordinates as they are.
func unitOf(s records.Schema) unit {
	lo, hi := s.Bounds()
	if s.Kind() != records.IntervalVector || lo == 0 && hi == 1 {
		return unit{}
	}
	return unit{float32(lo), float32(hi - lo)}
}

// shrink maps values into [0,1]. It is total: what does not fit float32's range ends at a bound.
func (u unit) shrink(values []float32) {
	if u.width == 0 {
		return
	}
	for i, v := range values {
		x := (v - u.lo) / u.width
		if !(x > 0) {
			x = 0
		}
		values[i] = min(x, 1)
	}
}

// stretch is the inverse of shrink.
func (u unit) stretch(values []float32) {
	if u.width == 0 {
		return
	}
	for i, v := range values {
		values[i] = u.lo + u.width*v
	}
}

// classesOf is the number of parts a record can be in: its class, or the only one.
func classesOf(s records.Schema) int { return max(s.Classes(), 1) }

// reader reads records as features see them.
type reader struct {
	unit  unit
	batch device.Batch
}

func (r *reader) read(data records.Data, lo, hi int) device.Batch {
	data.Range(lo, hi, &r.batch)
	return r.shrunk()
}

func (r *reader) gather(data records.Data, rows []int32) device.Batch {
	data.Gather(rows, &r.batch)
	return r.shrunk()
}

func (r *reader) shrunk() device.Batch {
	if r.batch.Sparse == nil {
		r.unit.shrink(r.batch.Dense.Data[:r.batch.Rows*r.batch.Dense.Cols])
	}
	return r.batch
}

// finite reports whether x is a number that is not infinite.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
