package released

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// ErrFormat means that a file, or a table, is not as described.
var ErrFormat = errors.New("released: malformed table")

const mostBytes = 1 << 28 // of a file

// Read reads tables from JSON or CSV.
//
// JSON is one table, a list of tables, or an object with a list named measurements or tables. A
// table is an object. Its fields have the names of this package, of measurements in the Python
// package private-pgm, or of the noisy measurement files of the U.S. census:
//
//	columns      columns, clique, attributes, or query_name ("sex * age")
//	values       values, a list for each column; optional
//	counts       counts, noisy_measurement, values of a query (value), in row-major order
//	std          std, stddev, sigma, or its square, variance
//
// Without values, codes count from 0. A code is a level of the schema, in its order, then the
// missing value if there is a code for it. For numbers it is one of the whole numbers between the
// bounds, if there are as many, and otherwise one of so many ranges of equal width. The number of
// codes is that of the object's field shape or query_shape, of the field domain, which maps columns
// to numbers of codes, or that of the schema's levels.
//
// CSV has a header, a column of values for each column of the schema that it names, a column count,
// and a column std that is the same in all rows. Each row is a count of one combination.
//
// Other fields are refused, because they may mean something.
//
// Errors: [ErrFormat].
func Read(r io.Reader, s records.Schema) ([]Table, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrFormat, mostBytes)
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\uFEFF")))
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		return readJSON(text, s)
	}
	t, err := readCSV(text, s)
	if err != nil {
		return nil, err
	}
	_, err = t.bind(namesOf(s))
	return []Table{t}, err
}

// entry is a table in JSON, in the words of several programs.
type entry struct {
	Columns    []string       `json:"columns"`
	Clique     []string       `json:"clique"`
	Attributes []string       `json:"attributes"`
	QueryName  string         `json:"query_name"`
	Values     [][]*string    `json:"values"`
	Counts     []*float64     `json:"counts"`
	Noisy      []*float64     `json:"noisy_measurement"`
	Value      []*float64     `json:"value"`
	Shape      []int          `json:"shape"`
	QueryShape []int          `json:"query_shape"`
	Domain     map[string]int `json:"domain"`
	Std        float64        `json:"std"`
	Stddev     float64        `json:"stddev"`
	Sigma      float64        `json:"sigma"`
	Variance   float64        `json:"variance"`

	Measurements []json.RawMessage `json:"measurements"`
	Tables       []json.RawMessage `json:"tables"`
}

func readJSON(text []byte, s records.Schema) (list []Table, err error) {
	var file entry
	var all []json.RawMessage
	if text[0] == '[' {
		err = param.Decode(text, &all)
	} else if err = param.Decode(text, &file); err == nil {
		if all = append(file.Measurements, file.Tables...); len(all) == 0 {
			all = []json.RawMessage{text}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: JSON: %w", ErrFormat, err)
	}
	if len(all) > mostTables {
		return nil, fmt.Errorf("%w: more than %d tables", ErrFormat, mostTables)
	}
	columns := s.Columns()
	for i, one := range all {
		var e entry
		if err := param.Decode(one, &e); err != nil {
			return nil, fmt.Errorf("%w: table %d: JSON: %w", ErrFormat, i+1, err)
		}
		if e.Domain == nil {
			e.Domain = file.Domain
		}
		t, err := e.table(s, columns)
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i+1, err)
		}
		list = append(list, t)
	}
	if _, err := bindAll(list, s); err != nil {
		return nil, err
	}
	return list, nil
}

func (e entry) table(s records.Schema, columns []records.Column) (t Table, err error) {
	for _, list := range [][]string{e.Columns, e.Clique, e.Attributes} {
		t.Columns = append(t.Columns, list...)
	}
	if e.QueryName != "" {
		for name := range strings.SplitSeq(e.QueryName, "*") {
			t.Columns = append(t.Columns, strings.TrimSpace(name))
		}
	}
	for _, list := range [][]*float64{e.Counts, e.Noisy, e.Value} {
		for _, v := range list {
			if v == nil {
				t.Counts = append(t.Counts, math.NaN())
			} else {
				t.Counts = append(t.Counts, *v)
			}
		}
	}
	t.Std = max(e.Std, e.Stddev, e.Sigma, math.Sqrt(max(e.Variance, 0)))
	for _, list := range e.Values {
		values := make([]string, len(list))
		for i, v := range list {
			if v != nil {
				values[i] = *v
			}
		}
		t.Values = append(t.Values, values)
	}
	if t.Values != nil {
		return t, nil
	}
	if err := checkColumns(t.Columns, s); err != nil {
		return t, err
	}
	shape := append(e.Shape, e.QueryShape...)
	for j, name := range t.Columns {
		size, column := e.Domain[name], columns[s.ColumnIndex(name)]
		if len(shape) == len(t.Columns) {
			size = shape[j]
		}
		if most := max(size, len(column.Levels())); most > len(t.Counts) { // before any are made
			return t, fmt.Errorf("%w: column %q: %d codes with %d counts", ErrFormat, name, most,
				len(t.Counts))
		}
		values, err := codes(column, size)
		if err != nil {
			return t, fmt.Errorf("%w: column %q: %w", ErrFormat, name, err)
		}
		t.Values = append(t.Values, values)
	}
	return t, nil
}

// codes returns the values of codes from 0 to size-1. A size of 0 is the number of levels.
func codes(c records.Column, size int) ([]string, error) {
	if levels := c.Levels(); len(levels) > 0 {
		values := slices.Clone(levels)
		if size == len(levels)+1 && c.HasMissing() {
			values = append(values, "")
		}
		if size != 0 && size != len(values) {
			return nil, fmt.Errorf("%d codes of %d levels", size, len(levels))
		}
		return values, nil
	}
	low, high := c.Bounds()
	if size < 1 || size > mostCells || !(high > low) {
		return nil, fmt.Errorf("numbers in %d codes: want values, a shape or a domain", size)
	}
	values := make([]string, size)
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	if c.Kind() == records.IntegerColumn && high-low+1 == float64(size) {
		for i := range values {
			values[i] = text(low + float64(i))
		}
		return values, nil
	}
	if c.Kind() == records.IntegerColumn || c.Step() > 0 {
		return nil, fmt.Errorf("%d codes of %v whole numbers: want values, which state the ranges", size,
			high-low+1)
	}
	edge := func(i int) float64 { return low + (high-low)*float64(i)/float64(size) }
	for i := range values {
		to := edge(i + 1)
		if i == size-1 {
			to = math.Nextafter(high, math.Inf(1)) // the largest number is in the last range
		}
		values[i] = text(edge(i)) + ".." + text(to)
	}
	return values, nil
}

func readCSV(text []byte, s records.Schema) (t Table, err error) {
	if fields := headerFields(text); fields > mostColumns+2 {
		return t, fmt.Errorf("%w: CSV: %d columns: want at most %d", ErrFormat, fields, mostColumns+2)
	}
	in := csv.NewReader(bytes.NewReader(text))
	header, err := in.Read()
	if err != nil {
		return t, fmt.Errorf("%w: CSV: %w", ErrFormat, err)
	}
	count, std := slices.Index(header, "count"), slices.Index(header, "std")
	if count < 0 || std < 0 {
		return t, fmt.Errorf("%w: CSV: want columns named count and std", ErrFormat)
	}
	var from []int
	for j, name := range header {
		if j != count && j != std {
			from, t.Columns = append(from, j), append(t.Columns, name)
		}
	}
	if err := checkColumns(t.Columns, s); err != nil {
		return t, err
	}
	rows, err := in.ReadAll()
	if err != nil {
		return t, fmt.Errorf("%w: CSV: %w", ErrFormat, err)
	}
	groups := make([]map[string]int, len(from))
	t.Values = make([][]string, len(from))
	for j := range from {
		groups[j] = map[string]int{}
	}
	for _, row := range rows {
		for j, k := range from {
			if _, there := groups[j][row[k]]; !there {
				groups[j][row[k]] = len(t.Values[j])
				t.Values[j] = append(t.Values[j], row[k])
			}
		}
	}
	size := int64(1)
	for _, list := range t.Values {
		if size *= int64(len(list)); size > mostCells {
			return t, fmt.Errorf("%w: CSV: more than %d combinations", ErrFormat, mostCells)
		}
	}
	t.Counts = slices.Repeat([]float64{math.NaN()}, int(size))
	for i, row := range rows {
		at := 0
		for j, k := range from {
			at = at*len(t.Values[j]) + groups[j][row[k]]
		}
		n, err := strconv.ParseFloat(row[count], 64)
		noise, err2 := strconv.ParseFloat(row[std], 64)
		if err != nil || err2 != nil || math.IsNaN(n) || (i > 0 && noise != t.Std) {
			return t, fmt.Errorf("%w: CSV: row %d: want a count, and the same std as in other rows",
				ErrFormat, i+2)
		}
		if !math.IsNaN(t.Counts[at]) {
			return t, fmt.Errorf("%w: CSV: row %d counts a combination again", ErrFormat, i+2)
		}
		t.Counts[at], t.Std = n, noise
	}
	return t, nil
}

// headerFields counts the fields of the first record, before the reader allocates them.
func headerFields(text []byte) int {
	fields, quoted := 1, false
	for _, b := range text {
		switch {
		case b == '"':
			quoted = !quoted
		case b == ',' && !quoted:
			fields++
		case b == '\n' && !quoted:
			return fields
		}
	}
	return fields
}
