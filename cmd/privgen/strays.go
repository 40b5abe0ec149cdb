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
		n := 0
		for i := range f.Len() {
			if f.Stray(i, j) {
				n++
			}
		}
		if n > 0 {
			columns, counts = append(columns, column.Name()), append(counts, n)
		}
	}
	return columns, counts
}

// warnStrays tells the owner of the records how many cells will be replaced or clamped.
func (a *app) warnStrays(d records.Data) {
	if a.quiet {
		return
	}
	columns, counts := strays(d)
	if len(columns) > 0 {
		var parts []string
		for i, name := range columns {
			parts = append(parts, fmt.Sprintf("column %s in %d", name, counts[i]))
		}
		a.note("some values are outside the schema and are clamped or replaced: %s of %d records. These "+
			"counts have no noise: do not publish them", strings.Join(parts, ", "), d.Len())
		return
	}
	if _, table := records.AsFrame(d); table {
		return
	}
	if err := records.Check(d); err != nil {
		a.note("some records are outside the schema and are clamped: %s. This message was made without "+
			"noise: do not publish it", oneLine(err))
	}
}
