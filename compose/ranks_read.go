package compose

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/records"
)

// A column maps the numbers of one column, from coordinates of the schema to coordinates of ranks.
type column struct {
	place   int // of the number among the coordinates of a record
	missing bool
	scale   marginal.Scale
}

// columnsOf returns the columns of a table, by the fractions of records with each code.
func columnsOf(attributes []marginal.Attribute, parts [][]float64) (list []column) {
	for i, a := range attributes {
		list = append(list, column{a.Block.Offset, a.Missing, a.Scale(parts[i])})
	}
	return list
}

// widest is the rank's distance from the mean, in standard deviations of the normal distribution,
// that is mapped to a bound. About one record in 370 lies beyond.
const widest = 3

// normal returns the coordinate of a rank: its quantile in the normal distribution, on a scale from
// 0 to 1.
func normal(rank float64) float32 {
	z := math.Sqrt2 * math.Erfinv(2*rank-1)
	return float32(min(max((z+widest)/(2*widest), 0), 1))
}

// ranked holds records whose numbers are replaced by ranks. Each record depends on the same record
// of Data and on the columns only. Without columns, the records are unchanged.
type ranked struct {
	records.Data
	schema  records.Schema
	columns []column
}

// Schema returns the schema of ranks.
func (d ranked) Schema() records.Schema { return d.schema }

// Unit returns the unit of the records.
func (d ranked) Unit() string { return records.UnitOf(d.Data) }

// Failed reports whether reading the records has failed.
func (d ranked) Failed() bool { return records.Failed(d.Data) }

// Gather copies the given rows into b and replaces their numbers.
func (d ranked) Gather(rows []int32, b *device.Batch) {
	d.Data.Gather(rows, b)
	d.replace(b)
}

// Range copies rows lo … hi-1 into b and replaces their numbers.
func (d ranked) Range(lo, hi int, b *device.Batch) {
	d.Data.Range(lo, hi, b)
	d.replace(b)
}

// replace replaces the numbers of encoded rows by the coordinates of their ranks. Missing numbers
// stay 0.
func (d ranked) replace(b *device.Batch) {
	for i := range b.Rows {
		row := b.Dense.Row(i)
		for _, c := range d.columns {
			if c.missing && row[c.place+1] > 0.5 {
				continue
			}
			row[c.place] = normal(c.scale.Rank(float64(row[c.place])))
		}
	}
}
