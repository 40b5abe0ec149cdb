package merf

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// layout returns the layout of encoded records, whose coordinates are all in [0, 1].
func layout(s records.Schema) rff.Layout {
	l := rff.Layout{In: s.Dim(), Blocks: network.TableBlocks(s)}
	if s.IsImage() {
		l.Height, l.Width = s.Height(), s.Width()
	}
	return l
}

// classesOf returns the number of classes, or 1 if records have no labels.
func classesOf(s records.Schema) int { return max(s.Classes(), 1) }

// reader reads records and scales their coordinates to [0, 1], the domain of the features.
type reader struct {
	unit  network.Unit
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
		r.unit.Shrink(r.batch.Dense.Data[:r.batch.Rows*r.batch.Dense.Cols])
	}
	return r.batch
}

// finite reports whether x is neither NaN nor infinite.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
