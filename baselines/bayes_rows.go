package baselines

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// rowCounter adds up rows, one after another.
type rowCounter struct {
	attributes []marginal.Attribute
	sums       []*mechanism.FixedSum
	// add adds a row with the given codes of columns, and its class or 0, to the sums.
	add func(codes []uint16, class int, share float64)
}

// Add adds the records of data.
func (c *rowCounter) Add(ctx context.Context, data records.Data) error {
	data, weights := records.RowsOf(data)
	codes := make([][]uint16, len(c.attributes))
	row := make([]uint16, len(c.attributes))
	last := len(c.attributes) - 1
	return network.EachNonzeros(ctx, data, marginal.BatchRows, func(lo int, z *records.Nonzeros) {
		marginal.CodesOf(c.attributes, z, codes)
		for i := range z.Rows {
			for j := range codes {
				row[j] = codes[j][i]
			}
			class := 0
			if c.attributes[last].Class() {
				class = int(row[last])
			}
			c.add(row, class, weights.Of(lo+i))
		}
	})
}

// Sums returns the sums.
func (c *rowCounter) Sums() []*mechanism.FixedSum { return c.sums }

// position returns the place in [-1, 1] of an ordered code, in units of half the column's range.
func position(a marginal.Attribute, code int) float64 {
	last := a.Ordered() - 1
	switch {
	case last == 0:
		return 0
	case a.Cells > 0 && code > 0 && code < last:
		return (2*float64(code)-1)/float64(a.Cells) - 1
	}
	return 2*float64(code)/float64(last) - 1
}

// A row has these coordinates: the position of each number, and 1 if a number is missing; and one
// coordinate for each level, which is 1 for the row's level. A missing number has position 0.

// coordinates returns the number of coordinates of a row.
func coordinates(columns []marginal.Attribute) (n int) {
	for _, a := range columns {
		n += width(a)
	}
	return n
}

// width returns the number of coordinates of a column.
func width(a marginal.Attribute) int {
	switch {
	case a.Ordered() == 0:
		return a.Codes
	case a.Missing:
		return 2
	}
	return 1
}

// setRow sets the coordinates of a row with the given codes.
func setRow(row []float64, columns []marginal.Attribute, codes []uint16) {
	clear(row)
	for j, a := range columns {
		code := int(codes[j])
		switch {
		case a.Ordered() == 0:
			row[code] = 1
		case code < a.Ordered():
			row[0] = position(a, code)
		default:
			row[1] = 1
		}
		row = row[width(a):]
	}
}

// moments returns the number of coordinates and of squares of numbers.
func moments(columns []marginal.Attribute) int {
	n := coordinates(columns)
	for _, a := range columns {
		if a.Ordered() > 0 {
			n++
		}
	}
	return n
}

// momentSquares bounds the squared norm of the coordinates and squares of a row. A number has a
// position and a square of at most 1, or one coordinate of 1 if it is missing. A column of levels
// has one coordinate of 1.
func momentSquares(columns []marginal.Attribute) (squares float64) {
	for _, a := range columns {
		squares++
		if a.Ordered() > 0 {
			squares++
		}
	}
	return squares
}

// setMoments sets the coordinates of a row, followed by the squares of its numbers.
func setMoments(row []float64, columns []marginal.Attribute, codes []uint16) {
	n := coordinates(columns)
	setRow(row[:n], columns, codes)
	at, square := 0, n
	for _, a := range columns {
		if a.Ordered() > 0 {
			row[square] = row[at] * row[at]
			square++
		}
		at += width(a)
	}
}

// mostScale bounds the scale of a coordinate, so that standardised rows are finite.
const mostScale = 1e6

// standard standardises the coordinates of rows: it subtracts the centre and multiplies by the
// scale. The expected norm of a standardised row is about 1.
type standard struct {
	centre, scale []float64
}

// apply sets row to the standardised coordinates of a row with the given codes, and returns their
// squared norm. The number of a row in which it is missing is 0, as if it were the mean.
func (s standard) apply(row []float64, columns []marginal.Attribute, codes []uint16) float64 {
	setRow(row, columns, codes)
	at, squares := 0, 0.0
	for j, a := range columns {
		for k := range width(a) {
			i := at + k
			row[i] = (row[i] - s.centre[i]) * s.scale[i]
			if k == 0 && a.Ordered() > 0 && int(codes[j]) >= a.Ordered() {
				row[i] = 0
			}
			squares += row[i] * row[i]
		}
		at += width(a)
	}
	if math.IsNaN(squares) {
		return math.Inf(1)
	}
	return squares
}
