package main

import (
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/records"
)

// columnCheck says how many cells of a column hold a value that the schema does not allow. The
// counts have no noise, and the examples are texts of records: neither is private.
type columnCheck struct {
	Column   string         `json:"column"`
	Cells    int            `json:"cells"`
	Strays   int            `json:"strays"`
	Problems map[string]int `json:"problems,omitempty"`
	Examples []string       `json:"examples,omitempty"`
	Want     string         `json:"want"`
}

// checkColumns counts the strays of each column of a table.
func checkColumns(d records.Data) (checks []columnCheck) {
	rows, _ := records.RowsOf(d)
	f, ok := records.AsFrame(rows)
	if !ok {
		return nil
	}
	for j, column := range f.Schema().Columns() {
		c := columnCheck{Column: column.Name(), Cells: f.Len(), Want: wanted(column),
			Problems: map[string]int{}}
		for i := range f.Len() {
			if problem := f.Problem(i, j); problem != "" {
				c.Problems[problem]++
				c.Strays++
			}
		}
		checks = append(checks, c)
	}
	return checks
}

// causes lists what is wrong in how many cells, the most frequent problem first.
func (c columnCheck) causes() string {
	var parts []string
	for _, problem := range byCount(c.Problems) {
		parts = append(parts, fmt.Sprintf("%s in %d", problem, c.Problems[problem]))
	}
	return strings.Join(parts, ", ")
}

// refuseStrays returns an error if more than a share of the cells of some column are outside the
// schema. The values of such a column say little about the records, as in a file whose columns are
// in another order or whose dates have another form: a fit would spend the budget on constants.
func refuseStrays(path string, checks []columnCheck, share float64) error {
	var parts []string
	for _, c := range checks {
		if float64(c.Strays) > share*float64(c.Cells) {
			parts = append(parts, fmt.Sprintf("column %s: %s of %d: want %s", c.Column, c.causes(), c.Cells,
				c.Want))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return inputf("%s: too many cells are outside the schema: %s; privgen check shows examples, and "+
		"--strays 1 goes on. This refusal depends on the records: do not publish it", path,
		strings.Join(parts, "; "))
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
	checks := checkColumns(d)
	var parts []string
	for _, c := range checks {
		if c.Strays > 0 {
			parts = append(parts, fmt.Sprintf("column %s in %d", c.Column, c.Strays))
		}
	}
	if len(parts) > 0 {
		a.note("%s: some values are outside the schema and are clamped or replaced: %s of %d records. "+
			"These counts have no noise: do not publish them", path, strings.Join(parts, ", "),
			checks[0].Cells)
		return
	}
	if checks != nil {
		return
	}
	if err := records.Check(d); err != nil {
		a.note("%s: some records are outside the schema and are clamped: %s. This message was made "+
			"without noise: do not publish it", path, oneLine(err))
	}
}
