package released

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/records"
)

// Table holds released counts. Each count is of the records that have certain values in all of the
// columns.
type Table struct {
	Columns []string
	// Values holds, for each column, the values that are counted. A value is the name of a level, a
	// number, or a range such as "30..40". A range has its upper end if the column is of whole
	// numbers, and does not have it otherwise. "" is a missing value. Records with other values are
	// not counted.
	Values [][]string
	// Counts holds a count of each combination of values; the last column varies fastest. NaN is a
	// count that was not released.
	Counts []float64
	// Std is the standard deviation of the noise of each count.
	Std float64
}

const (
	mostCells  = 1 << 22 // of a table
	mostTables = 1 << 8

	mostColumns = 16 // of a table

	mostLevels = 1 << 22 // of the columns of all tables
)

// cells finds the cell of every record of a table.
type cells struct {
	of     []column
	counts []float64
	std    float64
}

// column finds the group of values to which a record belongs.
type column struct {
	index  int       // in the schema
	groups int       // number of groups
	levels []int32   // the group of each level, -1 for none; the last one is of missing values
	low    []float64 // for numbers: the least number of each range, in order
	high   []float64 // the number at which a range ends
	ranges []int32   // the group of each range
	absent int32     // for numbers: the group of missing values, or -1
}

// names are the columns of a schema and the places of their levels, which all tables share.
type names struct {
	schema  records.Schema
	columns []records.Column
	levels  map[int]map[string]int
}

func namesOf(s records.Schema) names {
	return names{s, s.Columns(), map[int]map[string]int{}}
}

// places returns the place of each level of a column; that of a missing value is the last.
func (n names) places(column int) map[string]int {
	places, known := n.levels[column]
	if !known {
		levels := n.columns[column].Levels()
		places = make(map[string]int, len(levels)+1)
		if n.columns[column].HasMissing() {
			places[""] = len(levels)
		}
		for at, level := range levels {
			places[level] = at
		}
		n.levels[column] = places
	}
	return places
}

// bind checks a table against a schema.
func (t Table) bind(s names) (c cells, err error) {
	if len(t.Columns) == 0 || len(t.Values) != len(t.Columns) {
		return c, fmt.Errorf("%w: %d columns with %d lists of values", ErrFormat, len(t.Columns),
			len(t.Values))
	}
	if !(t.Std > 0) || math.IsInf(t.Std, 1) {
		return c, fmt.Errorf("%w: table %v: standard deviation %v: want a positive number", ErrFormat,
			t.Columns, t.Std)
	}
	if err := checkColumns(t.Columns, s.schema); err != nil {
		return c, err
	}
	size := int64(1)
	for j, name := range t.Columns {
		one, err := bindColumn(s, name, t.Values[j])
		if err != nil {
			return c, fmt.Errorf("%w: column %q: %w", ErrFormat, name, err)
		}
		if size *= int64(one.groups); size > mostCells {
			return c, fmt.Errorf("%w: table %v has more than %d cells", ErrFormat, t.Columns, mostCells)
		}
		c.of = append(c.of, one)
	}
	if size != int64(len(t.Counts)) {
		return c, fmt.Errorf("%w: table %v has %d counts of %d combinations", ErrFormat, t.Columns,
			len(t.Counts), size)
	}
	if slices.ContainsFunc(t.Counts, func(v float64) bool { return math.IsInf(v, 0) }) {
		return c, fmt.Errorf("%w: table %v has an infinite count", ErrFormat, t.Columns)
	}
	c.counts, c.std = t.Counts, t.Std
	return c, nil
}

// bindAll checks tables against a schema. Each table lists all levels of its columns, even if it
// has few counts, so many small tables could take much time and memory.
func bindAll(tables []Table, s records.Schema) (list []cells, err error) {
	levels, of := 0, namesOf(s)
	for i, t := range tables {
		one, err := t.bind(of)
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i+1, err)
		}
		for _, c := range one.of {
			levels += len(c.levels)
		}
		if levels > mostLevels {
			return nil, fmt.Errorf("%w: the columns of the tables have more than %d levels together",
				ErrFormat, mostLevels)
		}
		list = append(list, one)
	}
	return list, nil
}

// checkColumns returns an error unless the columns are different ones of the schema.
func checkColumns(names []string, s records.Schema) error {
	if len(names) > mostColumns {
		return fmt.Errorf("%w: %d columns: want at most %d", ErrFormat, len(names), mostColumns)
	}
	for j, name := range names {
		if s.ColumnIndex(name) < 0 {
			return fmt.Errorf("%w: column %q: the schema has no such column", ErrFormat, name)
		}
		if slices.Contains(names[:j], name) {
			return fmt.Errorf("%w: column %q is named twice", ErrFormat, name)
		}
	}
	return nil
}

func bindColumn(s names, name string, values []string) (c column, err error) {
	c.index = s.schema.ColumnIndex(name)
	c.groups, c.absent = len(values), -1
	if c.groups == 0 {
		return c, fmt.Errorf("no values")
	}
	of := s.columns[c.index]
	if of.IsNumber() {
		return c, c.bindNumbers(of, values)
	}
	if of.Kind() == records.IdentifierColumn {
		return c, fmt.Errorf("has neither numbers nor levels")
	}
	places := s.places(c.index)
	levels := len(places)
	if !of.HasMissing() {
		levels++ // the last is always of missing values
	}
	c.levels = slices.Repeat([]int32{-1}, levels)
	for g, v := range values {
		at, known := places[v]
		if !known {
			return c, fmt.Errorf("value %d is no level of the schema", g+1)
		}
		if c.levels[at] >= 0 {
			return c, fmt.Errorf("value %d is there twice", g+1)
		}
		c.levels[at] = int32(g)
	}
	return c, nil
}

// bindNumbers reads numbers and ranges, and sorts them.
func (c *column) bindNumbers(of records.Column, values []string) error {
	type span struct {
		low, high float64
		group     int32
	}
	var list []span
	whole := of.Kind() == records.IntegerColumn || of.Step() > 0
	for g, v := range values {
		if v == "" && of.HasMissing() && c.absent < 0 {
			c.absent = int32(g)
			continue
		}
		from, to, isRange := strings.Cut(v, "..")
		low, err := strconv.ParseFloat(strings.TrimSpace(from), 64)
		high := low
		if err == nil && isRange {
			high, err = strconv.ParseFloat(strings.TrimSpace(to), 64)
		}
		if err != nil || !(low <= high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
			return fmt.Errorf("value %d: want a number, or a range such as 30..40", g+1)
		}
		if whole || !isRange {
			high = math.Nextafter(high, math.Inf(1)) // the upper end is in the range
		}
		list = append(list, span{low, high, int32(g)})
	}
	slices.SortFunc(list, func(a, b span) int {
		if a.low < b.low {
			return -1
		}
		return 1
	})
	for i, r := range list {
		if i > 0 && r.low < c.high[i-1] {
			return fmt.Errorf("values %d and %d overlap", c.ranges[i-1]+1, r.group+1)
		}
		c.low, c.high = append(c.low, r.low), append(c.high, r.high)
		c.ranges = append(c.ranges, r.group)
	}
	return nil
}

// group returns the group of a record, or -1 if it belongs to none.
func (c *column) group(f *records.Frame, row int) int32 {
	if c.levels != nil {
		level := f.Level(row, c.index)
		if level < 0 {
			level = len(c.levels) - 1
		}
		return c.levels[level]
	}
	v := f.Number(row, c.index)
	if math.IsNaN(v) {
		return c.absent
	}
	at, found := slices.BinarySearch(c.low, v)
	if !found {
		at--
	}
	if at < 0 || v >= c.high[at] {
		return -1
	}
	return c.ranges[at]
}

// place returns the cell of a record, or -1 if the table does not count it.
func (c *cells) place(f *records.Frame, row int) int32 {
	at := int32(0)
	for k := range c.of {
		g := c.of[k].group(f, row)
		if g < 0 {
			return -1
		}
		at = at*int32(c.of[k].groups) + g
	}
	if math.IsNaN(c.counts[at]) {
		return -1
	}
	return at
}
