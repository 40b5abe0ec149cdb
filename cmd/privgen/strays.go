package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
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
			parts = append(parts, fmt.Sprintf("column %s: %s of %d: want %s", param.OneLine(c.Column),
				c.causes(), c.Cells, param.OneLine(c.Want)))
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

// strayNote says how many cells or values of a file are outside the schema. The counts have no
// noise.
type strayNote struct {
	Note     string        `json:"note"`
	Private  bool          `json:"private"` // always false
	Strays   int           `json:"strays"`
	Problems []string      `json:"problems,omitempty"` // of records that are not a table
	Columns  []columnCheck `json:"columns,omitempty"`  // those with strays
}

// strayNoteOf returns the note about records, or nil if all are in the schema.
func strayNoteOf(path string, d records.Data) *strayNote {
	var out strayNote
	checks := checkColumns(d)
	if checks == nil {
		if out.Strays, out.Problems = defects(d); out.Strays == 0 {
			return nil
		}
		out.Note = fmt.Sprintf("%s: %s, which are clamped or replaced. This count has no noise: do not publish it",
			path, defectsText(out.Strays, out.Problems))
		return &out
	}
	var parts []string
	for _, c := range checks {
		if c.Strays > 0 {
			parts = append(parts, fmt.Sprintf("column %s in %d", param.OneLine(c.Column), c.Strays))
			out.Strays, out.Columns = out.Strays+c.Strays, append(out.Columns, c)
		}
	}
	if out.Strays == 0 {
		return nil
	}
	out.Note = fmt.Sprintf("%s: some values are outside the schema and are clamped or replaced: %s of %d "+
		"records. These counts have no noise: do not publish them", path, strings.Join(parts, ", "),
		checks[0].Cells)
	return &out
}

// warnStrays tells the owner of the records in a file how many cells will be replaced or clamped.
// [app.warnAgain] repeats it after many lines of progress.
func (a *app) warnStrays(path string, d records.Data) {
	if a.quiet {
		return
	}
	if l, several := records.AsLinked(d); several {
		for i, t := range l.Tables().All() {
			rows, _ := l.Table(i)
			a.warnStrays(filepath.Join(path, t.Name), rows)
		}
		return
	}
	note := strayNoteOf(path, d)
	switch {
	case note == nil:
	case a.asJSON:
		line, _ := json.Marshal(note) // on standard error, since results may be published
		fmt.Fprintf(a.stderr, "%s\n", shownJSON(line))
	default:
		a.note("%s", note.Note)
		a.again = append(a.again, note.Note)
	}
}

// warnAgain repeats what [app.warnStrays] said.
func (a *app) warnAgain() {
	if a.progress == "none" {
		return
	}
	for _, text := range a.again {
		a.note("%s", text)
	}
}

// defects counts the values of sets, vectors and images that are outside the schema, and lists what
// is wrong with the first of them. Row numbers say little: one mistake concerns every record.
func defects(d records.Data) (count int, problems []string) {
	err := records.Check(d)
	if err == nil {
		return 0, nil
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, err := range list {
		var defect *records.Defect
		more := 1
		if errors.As(err, &defect) {
			if !slices.Contains(problems, defect.Problem) {
				problems = append(problems, defect.Problem)
			}
		} else if n, e := fmt.Sscanf(err.Error(), "records: and %d more", &more); n != 1 || e != nil {
			more = 1
			problems = append(problems, oneLine(err))
		}
		count += more
	}
	return count, problems
}

func defectsText(count int, problems []string) string {
	if count == 1 {
		return "1 value is outside the schema: " + listed(problems, "or")
	}
	return fmt.Sprintf("%d values are outside the schema: %s", count, listed(problems, "or"))
}

// refuseDefects is refuseStrays for records that are not a table, such as images with grey levels
// up to 255 instead of 1.
func refuseDefects(path string, d records.Data, share float64) error {
	count, problems := defects(d)
	values := d.Len() // of sets
	if s := d.Schema(); !s.Sparse() {
		values *= s.Dim()
	}
	if float64(count) <= share*float64(values) {
		return nil
	}
	return inputf("%s: too much is outside the schema: %s, want %v; --strays 1 "+
		"goes on%s", path, defectsText(count, problems), d.Schema(), notPublic)
}
