package main

import (
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/records"
)

// strays counts the cells of each column with a value outside the schema. The counts have no noise,
// so they are not private.
func strays(d records.Data) (columns []string, counts []int) {
	f, ok := records.AsFrame(d)
	if !ok {
		return nil, nil
	}
	for j, column := range f.Schema().Columns() {
		if n := f.Strays(j); n > 0 {
			columns, counts = append(columns, column.Name()), append(counts, n)
		}
	}
	return columns, counts
}

// refuseStrays returns an error if every cell of some column is outside the schema. The values of
// such a column say nothing about the records, as in a file whose columns are in another order.
func refuseStrays(path string, d records.Data) error {
	f, ok := records.AsFrame(d)
	if !ok || f.Len() == 0 {
		return nil
	}
	for j, column := range f.Schema().Columns() {
		if f.Strays(j) == f.Len() {
			return inputf("%s: column %s: every value is outside the schema: want %s", path,
				column.Name(), wanted(column))
		}
	}
	return nil
}

// wanted describes the values that a column allows, a long list of levels by its beginning.
func wanted(c records.Column) string {
	const most = 8
	switch levels := c.Levels(); {
	case len(levels) > most:
		return fmt.Sprintf("one of %q or %d more levels", levels[:most], len(levels)-most)
	case len(levels) > 0:
		return fmt.Sprintf("one of %q", levels)
	}
	return c.String()
}

// warnStrays tells the owner of the records in a file how many cells will be replaced or clamped.
func (a *app) warnStrays(path string, d records.Data) {
	if a.quiet {
		return
	}
	columns, counts := strays(d)
	if len(columns) > 0 {
		var parts []string
		for i, name := range columns {
			parts = append(parts, fmt.Sprintf("column %s in %d", name, counts[i]))
		}
		a.note("%s: some values are outside the schema and are clamped or replaced: %s of %d records. "+
			"These counts have no noise: do not publish them", path, strings.Join(parts, ", "), d.Len())
		return
	}
	if _, table := records.AsFrame(d); table {
		return
	}
	if err := records.Check(d); err != nil {
		a.note("%s: some records are outside the schema and are clamped: %s. This message was made "+
			"without noise: do not publish it", path, oneLine(err))
	}
}
