package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// mostExamples is how many texts of a column are shown, and exampleWidth how much of each.
const (
	mostExamples = 3
	exampleWidth = 40
)

type checkJob struct {
	*app
	in layout
}

func newCheck(a *app) *cobra.Command {
	j := &checkJob{app: a}
	c := &cobra.Command{
		Use:     "check SCHEMA RECORDS",
		GroupID: "work",
		Short:   "Count the cells that a schema cannot read, before anything is spent",
		Long: "Check reads records as fit does, and prints for each column how many cells hold a value " +
			"that the\nschema does not allow, with up to three examples from a CSV file.\n\n" +
			"Nothing is spent, and nothing printed is private: it is for the owner of the records.",
		Example:           "  privgen check schema.json people.csv",
		Args:              arguments("SCHEMA", "RECORDS"),
		ValidArgsFunction: files("json", "csv", "gz", "zst", "xlsx", "jsonl", "parquet", "npz"),
		RunE: a.action(func(c *cobra.Command, args []string) error {
			return j.run(c.Context(), args[0], args[1])
		}),
	}
	j.in.flags(c.Flags())
	return c
}

// checkResult is what --json prints.
type checkResult struct {
	Private bool          `json:"private"` // always false
	Records int           `json:"records"`
	Columns []columnCheck `json:"columns"`
	// values outside the schema, and what is wrong with the first of them, if the records are no table
	Strays   int      `json:"strays,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

func (j *checkJob) run(ctx context.Context, schema, path string) error {
	share := j.in.strays
	if err := checkShare(share); err != nil {
		return err
	}
	text, err := readFile(schema, mostPlan)
	if err != nil {
		return err
	}
	if t, several, err := tablesIn(schema, text); several {
		if err != nil {
			return err
		}
		return j.tables(ctx, t, path)
	}
	s, err := records.ReadSchema(bytes.NewReader(text))
	if err != nil {
		return located(schema, err)
	}
	examples := make([][]string, len(s.Columns()))
	j.in.strays = 1
	j.in.onStray = func(column int, _, text string) {
		examples[column] = example(examples[column], text)
	}
	data, err := j.read(path, j.in, s.ByPerson(0))
	if err != nil {
		return err
	}
	checks := checkColumns(data)
	if checks == nil {
		r := checkResult{Records: data.Len(), Columns: []columnCheck{}}
		r.Strays, r.Problems = defects(data)
		if err := j.result(r, func() string { return whole(data) }); err != nil {
			return err
		}
		return refuseDefects(path, data, share)
	}
	for i := range checks {
		checks[i].Examples = examples[i]
	}
	r := checkResult{Records: data.Len(), Columns: checks}
	if err := j.result(r, func() string { return checked(r) }); err != nil {
		return err
	}
	return refuseStrays(path, checks, share)
}

// tables checks the rows of several tables. Their columns are named as in constraints.
func (j *checkJob) tables(ctx context.Context, t records.Tables, path string) error {
	d, err := j.readTables(ctx, path, t, j.in)
	if err != nil {
		return err
	}
	r := checkResult{Records: d.Len(), Columns: []columnCheck{}}
	for i, one := range t.All() {
		rows, _ := d.Table(i)
		for _, c := range checkColumns(rows) {
			c.Column = one.Name + " " + c.Column
			r.Columns = append(r.Columns, c)
		}
	}
	if err := j.result(r, func() string { return checked(r) }); err != nil {
		return err
	}
	return refuseTables(path, d, j.in.strays)
}

// whole describes records that are not a table.
func whole(d records.Data) string {
	if n, problems := defects(d); n > 0 {
		return fmt.Sprintf("%d records; %s", d.Len(), defectsText(n, problems))
	}
	return fmt.Sprintf("%d records, all in the schema", d.Len())
}

// example adds a text that is not among the examples yet.
func example(texts []string, text string) []string {
	if r := []rune(text); len(r) > exampleWidth {
		text = string(r[:exampleWidth]) + "…"
	}
	if len(texts) == mostExamples || slices.Contains(texts, text) {
		return texts
	}
	return append(texts, text)
}

// checked prints a paragraph for each column with strays.
func checked(r checkResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d records (not private: for their owner)\n", r.Records)
	good := 0
	for _, c := range r.Columns {
		if c.Strays == 0 {
			good++
			continue
		}
		fmt.Fprintf(&b, "%s: %d of %d cells are outside the schema: %s\n  want %s\n",
			param.OneLine(c.Column), c.Strays, c.Cells, c.causes(), param.OneLine(c.Want))
		if len(c.Examples) > 0 {
			fmt.Fprintf(&b, "  such as %q\n", c.Examples)
		}
	}
	fmt.Fprintf(&b, "%d of %d columns are in the schema", good, len(r.Columns))
	return b.String()
}

// byCount returns the keys, those with the largest counts first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(counts[y]-counts[x], strings.Compare(x, y))
	})
}
