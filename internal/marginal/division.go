package marginal

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// MostParts is the largest number of parts of all divided cells together.
const MostParts = 60_000

// A Division lists, for each attribute, the codes of the cells that are divided into parts, in
// ascending order.
type Division [][]int

// Divide returns the cells whose released counts are at least least, in records, as far as they
// have at most MostParts parts together. The most frequent cells come first. A cell of one
// value is not divided.
func (k Surveyed) Divide(attributes []Attribute, least float64) Division {
	type cell struct {
		attribute, code int
		count           float64
	}
	var list []cell
	for j := range attributes {
		for code, c := range k.Counts[j] {
			if c >= least && attributes[j].partsOf(code).n >= 2 {
				list = append(list, cell{j, code, c})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b cell) int { return cmp.Compare(b.count, a.count) })
	d := make(Division, len(attributes))
	total := 0
	for _, c := range list {
		n := attributes[c.attribute].partsOf(c.code).n
		if total+n > MostParts {
			continue
		}
		total += n
		d[c.attribute] = append(d[c.attribute], c.code)
	}
	for _, codes := range d {
		slices.Sort(codes)
	}
	return d
}

// Columns returns the number of attributes with divided cells.
func (d Division) Columns() (n int) {
	for _, codes := range d {
		if len(codes) > 0 {
			n++
		}
	}
	return n
}

// State encodes the division as the state of a pass over records.
func (d Division) State() []byte {
	var state []byte
	for _, codes := range d {
		state = binary.LittleEndian.AppendUint16(state, uint16(len(codes)))
		for _, code := range codes {
			state = binary.LittleEndian.AppendUint16(state, uint16(code))
		}
	}
	return state
}

// ReadDivision decodes the division that State encoded.
func ReadDivision(attributes []Attribute, state []byte) (Division, bool) {
	rest := state
	next := func() int {
		if len(rest) < 2 {
			return 0 // no cell's code
		}
		v := binary.LittleEndian.Uint16(rest)
		rest = rest[2:]
		return int(v)
	}
	d := make(Division, len(attributes))
	for j := range attributes {
		for range next() {
			d[j] = append(d[j], next())
		}
	}
	return d, d.Valid(attributes) && slices.Equal(d.State(), state)
}

// Valid reports whether a division from outside is one of these attributes.
func (d Division) Valid(attributes []Attribute) bool {
	if len(d) != len(attributes) {
		return false
	}
	total := 0
	for j, codes := range d {
		before := 0
		for _, code := range codes {
			if code <= before || code >= attributes[j].Codes {
				return false
			}
			n := attributes[j].partsOf(code).n
			if total += n; n < 2 || total > MostParts {
				return false
			}
			before = code
		}
	}
	return true
}

// divided is a column whose codes are the parts of its divided cells, from 1. The code of any other
// value is 0.
type divided struct {
	attribute Attribute // undivided
	cells     []cellParts
	first     []int // the code of each cell's first part; indexed by the cell's code; 0 for none
	parts     int
}

// divide returns the columns of a division. Attributes without divided cells have nil.
func (d Division) divide(attributes []Attribute) []*divided {
	list := make([]*divided, len(attributes))
	for j, codes := range d {
		if len(codes) == 0 {
			continue
		}
		one := &divided{attribute: attributes[j], cells: make([]cellParts, attributes[j].Codes),
			first: make([]int, attributes[j].Codes)}
		for _, code := range codes {
			one.cells[code] = one.attribute.partsOf(code)
			one.first[code] = 1 + one.parts
			one.parts += one.cells[code].n
		}
		list[j] = one
	}
	return list
}

// code returns 1 plus the number of the part that holds a coordinate, or 0 if its cell is not
// divided.
func (d *divided) code(code int, x float64) int {
	if d.first[code] == 0 {
		return 0
	}
	return d.first[code] + d.cells[code].of(x)
}
