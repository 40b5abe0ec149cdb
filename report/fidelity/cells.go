package fidelity

import (
	"math"

	"github.com/seed7ba64551/privgen/records"
)

// histogram describes the cells of a column: its levels, or bins of equal width on the scale of the
// schema's encoding, and one more for a missing value.
type histogram struct {
	column, first, cells int
	shape                records.Column
	bins                 int // 0 for levels
	lo, width, log       float64
}

func (c Config) histograms() []histogram {
	var list []histogram
	first := 0
	for j, column := range c.Schema.Columns() {
		if column.Kind() == records.IdentifierColumn {
			continue // a name says nothing about a record
		}
		h := histogram{column: j, first: first, shape: column, cells: len(column.Levels()) + 1}
		if column.IsNumber() {
			h.bins, h.cells = c.Bins, c.Bins+1
			lo, hi := column.Bounds()
			h.lo, h.width = lo, hi-lo
			if h.log = column.LogUnit(); h.log > 0 {
				h.width = math.Log1p(h.width / h.log)
			}
		}
		first += h.cells
		list = append(list, h)
	}
	return list
}

// cell returns the cell of a record. It depends only on the record.
func (h histogram) cell(f *records.Frame, row int) int {
	if h.bins == 0 {
		if level := f.Level(row, h.column); level >= 0 && level < h.cells-1 {
			return h.first + level
		}
		return h.first + h.cells - 1
	}
	v := f.Number(row, h.column)
	if math.IsNaN(v) {
		return h.first + h.cells - 1
	}
	at := v - h.lo
	if h.log > 0 {
		at = math.Log1p(at / h.log)
	}
	return h.first + min(max(int(at/h.width*float64(h.bins)), 0), h.bins-1)
}
