package records

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// column holds the raw labels of a table and the schema's rule for reading them.
type column struct {
	raw     []int32
	classes int32
	unknown int32
}

func newColumn(s Schema, n int, labels []int32) (column, error) {
	if s.Classes() == 0 {
		if len(labels) > 0 {
			return column{}, param.New("records labels", "labels", "none: the schema declares no classes")
		}
		return column{}, nil
	}
	if len(labels) != n {
		return column{}, param.New("records labels", unequal(len(labels), n), "one for each row")
	}
	return column{raw: labels, classes: int32(s.Classes()), unknown: int32(s.unknown)}, nil
}

// unequal describes a wrong number of values in an error. It states neither the number of values
// nor that of rows, since both would reveal the number of records.
func unequal(got, rows int) string {
	if got < rows {
		return "fewer than rows"
	}
	return "more than rows"
}

// at returns the label of one row, inside the schema.
func (c column) at(i int) int32 {
	if l := c.raw[i]; l >= 0 && l < c.classes {
		return l
	}
	return c.unknown
}

func (c column) gather(rows []int32, b *device.Batch) {
	if c.classes == 0 {
		b.Labels = nil
		return
	}
	b.Labels = resize(b.Labels, len(rows))
	for k, i := range rows {
		b.Labels[k] = c.at(int(i))
	}
}

func (c column) span(lo, hi int, b *device.Batch) {
	if c.classes == 0 {
		b.Labels = nil
		return
	}
	b.Labels = resize(b.Labels, hi-lo)
	for k := range b.Labels {
		b.Labels[k] = c.at(lo + k)
	}
}

// all returns the labels of every row inside the schema, nil without classes.
func (c column) all() []int32 {
	if c.classes == 0 {
		return nil
	}
	out := make([]int32, len(c.raw))
	for i := range out {
		out[i] = c.at(i)
	}
	return out
}

// take picks the raw labels of some rows.
func (c column) take(rows []int32) column {
	if c.classes == 0 {
		return column{}
	}
	raw := make([]int32, len(rows))
	for k, i := range rows {
		raw[k] = c.raw[i]
	}
	c.raw = raw
	return c
}

func (c column) slice(lo, hi int) column {
	if c.classes > 0 {
		c.raw = c.raw[lo:hi]
	}
	return c
}

// byClass lists the rows of each class.
func (c column) byClass() [][]int32 {
	out := make([][]int32, c.classes)
	for i := range c.raw {
		l := c.at(i)
		out[l] = append(out[l], int32(i))
	}
	return out
}
