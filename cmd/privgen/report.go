package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/fidelity"
)

type reportJob struct {
	*app
	in        layout
	holdout   string
	plan      string
	synthetic string
	fidelity  string
	publish   bool
	title     string
	settings  report.Settings
	out       string
}

func newReport(a *app) *cobra.Command {
	j := &reportJob{app: a}
	c := &cobra.Command{
		Use:     "report GENERATOR [RECORDS]",
		GroupID: "work",
		Short:   "Report the quality of synthetic records and the protection of the real ones",
		Long: "Report writes one page, which works without a network, and the same numbers as JSON.\n\n" +
			"RECORDS are the real records. With RECORDS, the report compares synthetic with real records. " +
			"Such a\nreport is not private, and says so. --holdout names real records that the generator has " +
			"not seen;\ntheir scores are the reference for all others.\n\n" +
			"With --publish, the report uses only released numbers and may be published. --fidelity " +
			"adds the\nfigures that privgen fidelity released.\n\n" +
			"For a generator of several tables, RECORDS is a folder of CSV or Parquet files, or an " +
			"SQLite\ndatabase. The page is about rows of the first table, each summed up in one row with " +
			"everything\nthat belongs to it.",
		Example: "  privgen report people.gen people.csv --holdout others.csv -o report.html\n" +
			"  privgen report people.gen --publish --fidelity figures.json -o public.html",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: files("gen", "csv", "gz", "zst", "xlsx", "jsonl", "parquet", "npz"),
		RunE: a.action(func(c *cobra.Command, args []string) error {
			return j.run(c.Context(), args)
		}),
	}
	f := c.Flags()
	j.in.flags(f)
	f.StringVar(&j.holdout, "holdout", "", "`file` of real records that the generator has not seen")
	f.StringVar(&j.synthetic, "synthetic", "", "`file` of synthetic records to use instead of drawing new ones")
	f.StringVar(&j.plan, "plan", "", "plan `file` of the generator, for the bill")
	f.BoolVar(&j.publish, "publish", false, "use only released numbers")
	f.StringVar(&j.fidelity, "fidelity", "", "`file` of figures written by privgen fidelity")
	f.StringVar(&j.title, "title", "", "`title` of the page")
	f.IntVar(&j.settings.Rows, "rows", 0, "`number` of records of each kind to compare; 0 for 50,000")
	f.IntVar(&j.settings.Train, "train", 0,
		"`number` of records of each kind to train classifiers on; 0 for 10,000")
	f.Uint64Var(&j.settings.Seed, "seed", 0, "seed of the draws of records and groups, a `number`")
	f.StringVarP(&j.out, "out", "o", "", "HTML `file` to write; - for standard output")
	c.MarkFlagFilename("plan", "json")
	c.MarkFlagFilename("fidelity", "json")
	return c
}

func (j *reportJob) check(args []string) error {
	switch {
	case j.out == stdio && j.asJSON:
		return usagef("--json: want --out FILE, since standard output holds the page")
	case j.publish && (len(args) > 1 || j.holdout != ""):
		return usagef("--publish: RECORDS and --holdout are not allowed, because the report then uses only " +
			"released numbers")
	case !j.publish && len(args) < 2:
		return usagef("got 1 argument, want GENERATOR and RECORDS, or GENERATOR and --publish")
	}
	return nil
}

func (j *reportJob) run(ctx context.Context, args []string) error {
	if err := j.check(args); err != nil {
		return err
	}
	gen, err := openGenerator(args[0])
	if err != nil {
		return err
	}
	if gen.System() == linkedSystem {
		return j.tables(ctx, gen, args[1:])
	}
	if j.out == "" && !j.asJSON {
		return usagef("--out: want a file for the page; or give --json to print its numbers")
	}
	in, err := j.input(gen, args)
	if err != nil {
		return err
	}
	if err := j.apart(j.out); err != nil {
		return err
	}
	compute := report.Compute
	if j.publish {
		compute = report.Released
	}
	r, err := compute(ctx, in, j.settings)
	if err != nil {
		return err
	}
	if j.out != "" {
		if err := j.save(j.out, r.WriteHTML); err != nil || j.out == stdio {
			return err
		}
	}
	return j.result(r, func() string { return j.out + "\n" + reportText(r) })
}

// input reads the inputs of the report.
func (j *reportJob) input(gen *privgen.Generator, args []string) (in report.Input, err error) {
	in.Title, in.Generator = j.title, gen
	s := in.Generator.Schema()
	if j.plan != "" {
		if in.Plan, err = openPlan(j.plan); err != nil {
			return in, err
		}
		if got, want := in.Plan.Schema().RowsPerPerson(), rowsPerPerson(in.Generator); got != want {
			return in, inputf("%s: the plan protects %s: want the generator's plan, which protects %s", j.plan,
				protected(got), protected(want))
		}
	}
	if j.fidelity != "" {
		if in.Fidelity, err = j.openFidelity(); err != nil {
			return in, err
		}
	}
	if j.synthetic != "" {
		if in.Synthetic, err = j.read(j.synthetic, j.in, s); err != nil {
			return in, err
		}
		if j.publish {
			j.note("nothing shows that %s was drawn from the generator: publish the page only if it was, "+
				"since its columns are on the page", j.synthetic)
		}
	}
	if j.in.person != "" {
		s = s.ByPerson(rowsPerPerson(in.Generator))
	}
	if err := j.in.checkRows(s); err != nil {
		return in, err
	}
	if j.holdout != "" {
		if in.HeldOut, err = j.readReal(j.holdout, j.in, s); err != nil {
			return in, err
		}
	}
	if len(args) > 1 {
		in.Real, err = j.readReal(args[1], j.in, s)
	}
	return in, err
}

// rowsPerPerson returns the number of rows of a person that a generator's guarantee covers, or 0 if
// the guarantee protects single rows.
func rowsPerPerson(g *privgen.Generator) int {
	if promise := g.Guarantee(); promise.Unit == records.UnitUser {
		return promise.RowsPerUnit
	}
	return 0
}

// protected describes the unit that a guarantee protects.
func protected(rowsPerPerson int) string {
	if rowsPerPerson == 0 {
		return "single rows"
	}
	return fmt.Sprintf("persons of up to %d rows each", rowsPerPerson)
}

// readReal reads real records for a comparison. It notes how many cells are outside the schema.
func (a *app) readReal(path string, l layout, s records.Schema) (records.Data, error) {
	d, err := a.read(path, l, s)
	if err != nil {
		return nil, err
	}
	a.warnStrays(path, d)
	return d, nil
}

func (j *reportJob) openFidelity() (*fidelity.Released, error) {
	in, closeIn, err := j.open(j.fidelity)
	if err != nil {
		return nil, err
	}
	defer closeIn()
	text, err := readAll(in, j.fidelity, mostPlan)
	if err != nil {
		return nil, err
	}
	var out fidelity.Released
	if err := param.Decode(text, &out); err != nil {
		return nil, located(j.fidelity, err)
	}
	if out.Synthetic == 0 || len(out.Guarantee.Entries) == 0 { // nothing would be read as ε = 0
		return nil, inputf("%s: want figures, as privgen fidelity writes them", j.fidelity)
	}
	for i := range out.Columns {
		out.Columns[i].Name = param.OneLine(out.Columns[i].Name)
	}
	for i := range out.Classifiers {
		out.Classifiers[i].Method = param.OneLine(out.Classifiers[i].Method)
	}
	return &out, nil
}

// reportText returns the main figures of a report as text.
func reportText(r *report.Report) string {
	var b strings.Builder
	if len(r.Promise.Words) > 0 {
		fmt.Fprintln(&b, r.Promise.Words[0])
	}
	rows := [][]string{{"", "synthetic", "held-out real"}}
	for _, f := range figures {
		if synthetic, held := f.of(r); !synthetic.IsNone() {
			rows = append(rows, []string{f.name, digits(synthetic), digits(held)})
		}
	}
	if len(rows) > 1 {
		b.WriteString("\n")
		table(&b, rows)
		b.WriteString("\n" + meanings(firsts(rows)))
	}
	if r.Caveat != "" {
		fmt.Fprintf(&b, "\n%s\n", r.Caveat)
	}
	return b.String()
}

// firsts returns the first cell of each row.
func firsts(rows [][]string) (out []string) {
	for _, row := range rows {
		out = append(out, row[0])
	}
	return out
}

func digits(n report.Number) string {
	if n.IsNone() {
		return "–"
	}
	return fmt.Sprintf("%.4f", float64(n))
}
