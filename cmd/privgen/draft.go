package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

type draftJob struct {
	*app
	in         layout
	where      where
	isPublic   bool
	header     bool
	public     draft.Public
	candidates string
	rootTable  string
	rows       int // largest number of rows of a person; 0 to protect single rows
	budget     accountant.Budget
	out        string
}

func newDraft(a *app) *cobra.Command {
	j := &draftJob{app: a}
	c := &cobra.Command{
		Use:     "draft RECORDS",
		GroupID: "work",
		Short:   "Draft a schema: the columns of a table, their bounds and their levels",
		Long: "Draft writes a schema for a person to review. A schema is public, and every record is " +
			"clamped\ninto its bounds and levels before anything is learnt.\n\n" +
			"With --public, bounds and levels are copied from RECORDS, which must be public: rows " +
			"written by\nhand, or already published. A note says what each column was taken for. With " +
			"--candidates,\nRECORDS are private: the candidates are a schema wide enough for all " +
			"possible values, and a\nprivate release, paid for on the ledger, narrows it. It also finds " +
			"levels of columns\nwhose levels are open: hashed columns with an other level.\n\n" +
			"If public RECORDS are an SQLite database, draft describes its tables and which rows belong to " +
			"which,\nas the declared keys say.",
		Example: "  privgen draft sample.csv --public --label income -o schema.json\n" +
			"  privgen draft people.csv --candidates wide.json --epsilon 0.1 --ledger people \\\n" +
			"    -o schema.json",
		Args:              arguments("RECORDS"),
		ValidArgsFunction: files("csv", "tsv", "gz", "zst", "xlsx", "jsonl", "parquet"),
		RunE: a.action(func(c *cobra.Command, args []string) error {
			return j.run(c.Context(), args[0])
		}),
	}
	f := c.Flags()
	f.BoolVar(&j.isPublic, "public", false, "copy bounds and levels from the records, which are public")
	f.StringVar(&j.public.Label, "label", "", "with --public: `column` of the class")
	f.StringVar(&j.public.Target, "target", "", "with --public: `column` of a number to be predicted")
	f.StringSliceVar(&j.public.Skip, "skip", nil,
		"with --public: `columns` to leave out, such as identifiers")
	f.IntVar(&j.public.MaxLevels, "max-levels", 100,
		"with --public: largest `number` of levels of a column of texts; more are identifiers or hashed")
	f.BoolVar(&j.header, "header", false, "with --public: the CSV file's first line holds names "+
		"even if it could be a record")
	f.StringVar(&j.rootTable, "root", "", "with --public and a database: `table` whose rows are protected "+
		"with all that belongs to them; by default the only one that belongs to no other")
	f.StringVar(&j.candidates, "candidates", "", "schema `file` to be narrowed by private records")
	f.IntVar(&j.rows, "rows-per-person", 0,
		"with --candidates: protect persons with up to this `number` of rows each; needs --person")
	budgetFlags(f, &j.budget, 0.1, 1e-6)
	j.where.flags(c)
	j.in.flags(f)
	f.StringVarP(&j.out, "out", "o", stdio, "schema `file` to write; with --public, - for standard output")
	c.MarkFlagFilename("candidates", "json")
	c.MarkFlagsMutuallyExclusive("public", "candidates")
	for _, other := range []string{"no-header", "names", "candidates"} {
		c.MarkFlagsMutuallyExclusive("header", other)
	}
	return c
}

func (j *draftJob) run(ctx context.Context, path string) error {
	if j.asJSON && j.out == stdio {
		return usagef("--json: want --out, since standard output holds the schema")
	}
	switch {
	case !j.isPublic && j.candidates == "":
		return usagef("got neither --public nor --candidates: want --public or --candidates FILE")
	case j.rows < 0:
		return usagef("--rows-per-person: %d: want a positive number of rows, or 0 to protect single rows",
			j.rows)
	case j.rows > records.MostRows:
		return usagef("--rows-per-person: %d: want at most %d", j.rows, records.MostRows)
	case j.isPublic && j.rows > 0:
		return usagef("--rows-per-person: not allowed with --public, because public rows need no protection: " +
			"want --candidates")
	case j.isPublic && isDatabase(path):
		return j.fromDatabase(ctx, path)
	case j.rootTable != "":
		return usagef("--root: want --public and an SQLite database")
	case j.isPublic:
		return j.fromPublic(path)
	}
	return j.fromPrivate(ctx, path)
}

// draftResult is what --json prints.
type draftResult struct {
	Schema  string `json:"schema_file"`
	Notes   string `json:"notes_file,omitempty"` // that explains it
	Columns int    `json:"columns"`
	Classes int    `json:"classes"`
	Priced  bool   `json:"priced"`
	Ledger  string `json:"ledger,omitempty"`
	// what the columns of public records were taken for
	Recognised []draft.Recognised `json:"recognised,omitempty"`
	// the guarantee of everything on the ledger; nil for a public draft
	Guarantee *ledger.Guarantee `json:"guarantee,omitempty"`
}

func (j *draftJob) fromPublic(path string) error {
	format, err := j.in.of(path, records.Schema{})
	if err != nil {
		return err
	} else if format != "csv" && format != "xlsx" {
		return usagef("--public: want a CSV or xlsx file, not %s", format)
	}
	file, closeIn, err := j.openPacked(path)
	if err != nil {
		return located(path, err)
	}
	defer closeIn()
	in, layout, end, err := j.in.textOf(format, file, records.Schema{})
	if err != nil {
		return located(path, err)
	}
	defer end()
	if layout.Comma > 0 && layout.Comma != ',' {
		j.note("the fields of %s are separated by %q", path, layout.Comma)
	}
	j.public.Unsure = layout.Header && !j.header
	if j.in.missing == nil {
		layout.Missing = usualMissing[:1] // others are written back if they are levels
	}
	s, seen, err := draft.Recognise(in, layout, j.public)
	if j.public.Unsure && errors.Is(err, records.ErrHeader) {
		return inputf("%s: the first line could be a record: give --header if it holds the names of the "+
			"columns, or --no-header or --names if it is a record", path)
	}
	if err != nil && strings.Contains(err.Error(), "is not UTF-8") &&
		!strings.Contains(err.Error(), "--encoding") {
		return inputf("%s: %v: want --encoding latin-1, or utf-16", path, err)
	}
	if err != nil {
		return located(path, err)
	}
	j.note("bounds and levels were copied from %s: no guarantee holds for its rows. Review the "+
		"schema, widen bounds to what can occur, and add levels that are missing", path)
	j.describe(seen)
	r := draftResult{Recognised: seen}
	if j.out != stdio {
		r.Notes = notesFile(j.out)
		if exists(r.Notes) && !isNotes(r.Notes) {
			return usagef("--out: %s exists, and the notes beside the schema would replace it: want another name",
				r.Notes)
		}
		if err := j.save(r.Notes, func(w io.Writer) error {
			return writeNotes(w, path, j.out, seen)
		}); err != nil {
			return err
		}
	}
	return j.finish(s, r)
}

func (j *draftJob) fromPrivate(ctx context.Context, path string) error {
	if err := checkGaussian(j.budget); err != nil {
		return err
	}
	if j.out == stdio {
		return usagef("--out: want a file: the schema is paid for, and a broken pipe would lose it")
	}
	unlock, err := alone(j.out)
	if err != nil {
		return err
	}
	defer unlock()
	wide, err := openSchema(j.candidates)
	if err := cmp.Or(unpaid(j.out, ""), err); err != nil {
		return err
	}
	if j.rows > 0 {
		wide = wide.ByPerson(j.rows)
	}
	plan, err := draft.Config{Candidates: wide, Budget: j.budget}.Plan()
	if err := cmp.Or(err, j.in.checkRows(wide)); err != nil {
		return err
	}
	data, err := j.read(path, j.in, wide)
	if err != nil {
		return err
	}
	if err := j.paid(j.out, j.where.files()...); err != nil {
		return err
	}
	j.warnStrays(path, data)
	ledger, err := j.where.use(j.app, ctx, termsFor(j.budget, wide))
	if err != nil {
		return err
	}
	defer ledger.Close()
	d, err := draft.Fit(context.WithoutCancel(ctx), plan, data, ledger) // an interrupt loses nothing
	if err != nil {
		return err
	}
	for _, c := range wide.Constraints() {
		if d.Schema.WithConstraints(c).Validate() != nil {
			j.note("the constraint %.200q is left out as far as the narrowed columns cannot have it", c)
		}
	}
	return j.finish(d.Schema.ByPerson(0), draftResult{Priced: true, Ledger: j.where.ledger,
		Guarantee: &d.Guarantee})
}

// finish writes the schema and prints the result.
func (j *draftJob) finish(s records.Schema, r draftResult) error {
	write := func(w io.Writer) error { return records.WriteSchema(w, s) }
	err := j.saveJSON(j.out, write)
	if r.Priced {
		err = j.orPrinted(err, write)
	}
	if err != nil || j.out == stdio {
		return err
	}
	r.Schema, r.Columns, r.Classes = j.out, len(s.Columns()), s.Classes()
	return j.result(r, func() string {
		text := fmt.Sprintf("%s: %v", j.out, s)
		if r.Notes != "" {
			text += fmt.Sprintf("\n%s says what each column was taken for", r.Notes)
		}
		if r.Priced {
			text += fmt.Sprintf("\nledger %s: ε ≤ %s in all, at δ = %g", r.Ledger,
				accountant.FormatUpper(r.Guarantee.Epsilon, 4), r.Guarantee.Delta)
		}
		return text
	})
}

// openSchema reads a schema file. It fails if the file holds no schema.
func openSchema(path string) (records.Schema, error) {
	s, err := records.OpenSchema(path)
	if err != nil {
		return s, located(path, err)
	}
	return s, nil
}
