package gan

import (
	"github.com/seed7ba64551/privgen/device"
)

// rank replaces the numbers of a batch by their ranks in the released distribution of all classes
// together. A record's ranks depend only on the record and on released values. If d is nil, the
// batch is unchanged.
func (d *distributions) rank(m device.Matrix) {
	if d == nil {
		return
	}
	for i := range m.Rows {
		d.rankRow(m.Row(i))
	}
}

func (d *distributions) rankRow(row []float32) {
	for _, col := range d.cells.columns {
		if cell := col.cell(row); col.ranked() && cell != col.missing() {
			x := float64(row[col.Offset])
			row[col.Offset] = float32(col.rank(col.within(d.pooled), x, cell))
		}
	}
}

// snap replaces ranks by ranks that records can have. A cell with a single number has only one
// rank.
func (d *distributions) snap(row []float32) {
	for _, col := range d.cells.columns {
		if !col.ranked() || col.Width == 2 && row[col.Offset+1] >= 0.5 {
			continue
		}
		p := col.within(d.pooled)
		x := col.number(p, float64(row[col.Offset]))
		row[col.Offset] = float32(x)
		cell := col.cell(row)
		row[col.Offset] = float32(col.rank(p, x, cell))
	}
}

// within returns the part of a distribution that belongs to a column.
func (c column) within(p []float64) []float64 { return p[c.first : c.first+c.n] }

// moments returns the means that the networks' input coordinates have in a class and, for numbers,
// the means of their squares.
func (d *distributions) moments(class, dim int) (mean, square []float64) {
	mean, square = make([]float64, dim), make([]float64, dim)
	for _, col := range d.cells.columns {
		own, pooled := col.within(d.of[class]), col.within(d.pooled)
		switch {
		case col.OneHot:
			copy(mean[col.Offset:], own)
			continue
		case col.Width == 2:
			mean[col.Offset+1] = own[col.missing()]
		}
		total := 0.0
		for cell, p := range own[:col.numbers()] {
			lo, hi := col.span(cell)
			u := (lo + hi) / 2
			if col.ranked() {
				u = col.rank(pooled, u, cell)
			}
			mean[col.Offset] += p * u
			square[col.Offset] += p * u * u
			total += p
		}
		if total > 0 {
			mean[col.Offset] /= total
			square[col.Offset] /= total
		}
	}
	return mean, square
}
