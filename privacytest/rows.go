package privacytest

import (
	"encoding/binary"
	"math"
	"reflect"
	"strconv"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// change says in which rows two neighbours differ.
type change struct {
	known    bool
	extra    int   // the row that is only in the larger data set; -1 if there is none
	replaced []int // the rows in which data sets of equal size differ
	size     int   // number of rows of the larger data set
}

// changeOf compares slices and records.Data row by row. For other types it cannot know the rows
// that differ.
func changeOf(a, b any) change {
	x, okX := rowsOf(a)
	y, okY := rowsOf(b)
	if !okX || !okY {
		return change{extra: -1}
	}
	if len(x) > len(y) {
		x, y = y, x
	}
	c := change{known: true, extra: -1, size: len(y)}
	switch len(y) - len(x) {
	case 0:
		for i := range x {
			if x[i].difference(y[i]) != "" {
				c.replaced = append(c.replaced, i)
			}
		}
	case 1:
		at := 0
		for at < len(x) && x[at].difference(y[at]) == "" {
			at++
		}
		c.extra = at
		for i := at; i < len(x); i++ {
			c.known = c.known && x[i].difference(y[i+1]) == ""
		}
	default:
		c.known = false
	}
	return c
}

// rowsOf freezes each row of a slice or of records.Data.
func rowsOf(d any) ([]frozen, bool) {
	if data, ok := d.(records.Data); ok {
		return recordRows(data), true
	}
	v := reflect.ValueOf(d)
	if !v.IsValid() || v.Kind() != reflect.Slice {
		return nil, false
	}
	rows := make([]frozen, v.Len())
	for i := range rows {
		rows[i] = freeze(v.Index(i).Interface())
	}
	return rows, true
}

func recordRows(d records.Data) []frozen {
	if p, ok := records.AsPersons(d); ok {
		return personRows(p)
	}
	var b device.Batch
	rows := make([]frozen, d.Len())
	for i := range rows {
		d.Range(i, i+1, &b)
		var text []byte // the whole content of the row, bit for bit
		if b.Sparse != nil {
			text = append(text, "items"...)
			for _, v := range b.Sparse.Row(0) {
				text = binary.LittleEndian.AppendUint32(text, v)
			}
		} else if b.Rows > 0 {
			text = append(text, "values"...)
			for _, v := range b.Dense.Row(0) {
				text = binary.LittleEndian.AppendUint32(text, math.Float32bits(v))
			}
		}
		text = append(text, "labels"...)
		for _, v := range b.Labels {
			text = binary.LittleEndian.AppendUint32(text, uint32(v))
		}
		text = binary.LittleEndian.AppendUint32(text, uint32(len(b.Labels))) // where the labels begin
		rows[i] = frozen{typ: reflect.TypeFor[records.Data](), leaf: string(text)}
	}
	return rows
}

// personRows freezes all rows of each person.
func personRows(p *records.Persons) []frozen {
	all := recordRows(p.Rows())
	persons := make([]frozen, p.Len())
	for i := range persons {
		lo, hi := p.Span(i)
		for row := lo; row < hi; row++ {
			persons[i].add(strconv.Itoa(row-lo), all[row])
		}
	}
	return persons
}

// numbering returns a function that gives every row the same number in both data sets. This is the
// row's number in the smaller data set. A row that only the larger data set has gets the last
// number. numbering returns nil if the numbers already agree.
func (c change) numbering(larger bool) func(row int) int {
	if !c.known || !larger || c.extra < 0 || c.extra == c.size-1 {
		return nil
	}
	return func(row int) int {
		switch {
		case row == c.extra:
			return c.size - 1
		case row > c.extra && row < c.size:
			return row - 1
		}
		return row
	}
}
