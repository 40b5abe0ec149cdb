package gan

import (
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

// cells divides each encoded column of a table into cells. Every record is in one cell of each
// column.
type cells struct {
	columns []column
	total   int
}

// column is a column of a table. The cells of a categorical column are its levels. The cells of a
// number with few values are these values. The cells of any other number are its lower end, bins of
// equal width, and its upper end. Missing values have a separate last cell.
type column struct {
	network.Block
	first, n int // cells
	bins     int // bins between the ends; 0 if the cells are levels or values
}

func newCells(s records.Schema, bins int) cells {
	var l cells
	for _, b := range network.TableBlocks(s) {
		col := column{Block: b, first: l.total, n: b.Width}
		if !b.OneHot {
			col.n = b.Levels
			if b.Levels < 2 || b.Levels > bins+2 {
				col.bins, col.n = bins, bins+2
			}
			col.n += b.Width - 1
		}
		l.columns = append(l.columns, col)
		l.total += col.n
	}
	return l
}

// missing returns the cell of missing values, or -1 if there is none.
func (c column) missing() int {
	if c.OneHot || c.Width == 1 {
		return -1
	}
	return c.n - 1
}

// flag reports whether a number has only two values, which are drawn like levels.
func (c column) flag() bool { return !c.OneHot && c.Levels == 2 }

// ranked reports whether the networks see the column's number as its rank.
func (c column) ranked() bool { return !c.OneHot && c.Levels != 2 }

// numbers returns the number of cells that hold numbers.
func (c column) numbers() int { return c.n - (c.Width - 1) }

// cell returns the cell of a record. Every value, even NaN, is in a cell.
func (c column) cell(row []float32) int {
	part := row[c.Offset : c.Offset+c.Width]
	if c.OneHot {
		best := 0
		for j, v := range part {
			if v > part[best] {
				best = j
			}
		}
		return best
	}
	if c.Width == 2 && part[1] >= 0.5 {
		return c.missing()
	}
	x := part[0]
	switch {
	case !(x > 0):
		return 0
	case x >= 1:
		return c.numbers() - 1
	case c.bins == 0:
		return int(x*float32(c.Levels-1) + 0.5)
	}
	return 1 + min(int(x*float32(c.bins)), c.bins-1)
}

// span returns the bounds of a cell of numbers. They are equal if the cell has a single number.
func (c column) span(cell int) (lo, hi float64) {
	last := c.numbers() - 1
	switch {
	case cell <= 0:
		return 0, 0
	case cell >= last:
		return 1, 1
	case c.bins == 0:
		x := float64(cell) / float64(last)
		return x, x
	}
	return float64(cell-1) / float64(c.bins), float64(cell) / float64(c.bins)
}

// rank returns the fraction of the distribution p that is below the number x. If x's cell has a
// single number, half of the cell's probability counts as below x.
func (c column) rank(p []float64, x float64, cell int) float64 {
	below, total := 0.0, 0.0
	for j, v := range p[:c.numbers()] {
		if j < cell {
			below += v
		}
		total += v
	}
	if !(total > 0) {
		return x
	}
	at := 0.5
	if lo, hi := c.span(cell); hi > lo {
		at = min(max((x-lo)/(hi-lo), 0), 1)
	}
	return (below + at*p[cell]) / total
}

// number returns the number with the given rank, the inverse of rank.
func (c column) number(p []float64, rank float64) float64 {
	total := 0.0
	for _, v := range p[:c.numbers()] {
		total += v
	}
	left := rank * total
	for j, v := range p[:c.numbers()] {
		if left < v || j == c.numbers()-1 {
			lo, hi := c.span(j)
			at := 0.0
			if v > 0 {
				at = min(max(left/v, 0), 1)
			}
			return lo + at*(hi-lo)
		}
		left -= v
	}
	return 0
}
