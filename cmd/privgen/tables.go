package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/connect/sqlrows"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// tablesIn reads the description of several tables in a file's text; ok is false for a text that
// describes one table.
func tablesIn(path string, text []byte) (t records.Tables, ok bool, err error) {
	var head map[string]any
	if param.Decode(text, &head) != nil || head["key"] == nil {
		return t, false, nil
	}
	if err = param.Decode(text, &t); err == nil {
		err = t.Validate()
	}
	if err != nil {
		return t, true, located(path, err)
	}
	return t, true, nil
}

// runLinked plans the system for several tables.
func (j *planJob) runLinked(t records.Tables) error {
	if j.rows > 0 {
		return usagef("--rows-per-person: not allowed for several tables, which state their largest " +
			"numbers of rows")
	}
	if err := oneOf("system", j.system, "auto", "aim"); err != nil {
		return err
	}
	of := privgen.AIM(t.Full(), j.budget).Nominal(j.records).Seed(j.seed)
	each := tables.AIM{Common: tables.Common{Nominal: j.records, Seed: j.seed}}
	p, err := compose.Linked{Tables: t, Of: of, Each: each}.PlanFor(t.Full(), j.budget)
	if err != nil {
		return err
	}
	return j.end(p, planResult{planned: describe(p, "", true), Alternatives: []planned{},
		Warning: j.budget.Caution(j.records)})
}

// readFor reads the records of a plan: a file, or a folder with a file for each of its tables.
func (a *app) readFor(ctx context.Context, p privgen.Plan, path string, l layout) (
	records.Data, error) {
	t, several := compose.TablesOf(p)
	if !several {
		return a.read(path, l, p.Schema())
	}
	if err := checkShare(l.strays); err != nil {
		return nil, err
	}
	d, err := a.readTables(ctx, path, t, l)
	if err != nil {
		return nil, err
	}
	return d, refuseTables(path, d, l.strays)
}

// refuseTables is refuseStrays for rows of several tables. It also refuses a table none of whose
// rows belongs to a row above it.
func refuseTables(path string, d *records.Linked, share float64) (err error) {
	if share == 1 {
		return nil
	}
	for i, t := range d.Tables().All() {
		rows, _ := d.Table(i)
		if rows.Len() == 0 && d.Len() > 0 {
			err = errors.Join(err, inputf("%s: no row of %s belongs to a row above it; --strays 1 accepts "+
				"that", path, t.Name))
			continue
		}
		err = errors.Join(err, refuseStrays(filepath.Join(path, t.Name), checkColumns(rows), share))
	}
	return err
}

// readTables reads the files of a folder, or a database.
func (a *app) readTables(ctx context.Context, path string, t records.Tables, l layout) (
	*records.Linked, error) {
	if isDatabase(path) {
		return a.readDatabase(ctx, path, t)
	}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, usagef("%s: want a folder with a CSV or Parquet file for each table of the plan, or an "+
			"SQLite database", path)
	}
	if l.format == "parquet" || l.format == "auto" && holdsParquet(path, t) {
		return a.readParquet(path, t)
	}
	if l.noHeader || l.names != nil || l.firstRecord || l.format != "auto" && l.format != "csv" {
		return nil, usagef("several tables are Parquet files or CSV files with headers: want none of " +
			"--no-header, --names, --first-record and other formats")
	}
	if l.comma == "auto" {
		l.comma = ","
	}
	c, err := l.csv()
	if err != nil {
		return nil, err
	}
	for _, one := range t.All() {
		a.inputs = append(a.inputs, filepath.Join(path, one.Name+".csv"))
	}
	files := &tableFiles{app: a, folder: path, layout: l}
	d, err := c.ReadTables(files, t)
	if err != nil {
		return nil, located(filepath.Join(path, files.last), err)
	}
	if l.lines {
		a.note("--lines: each line of %s is read as one row. A text with a line break can then name "+
			"other rows of the first table, which the guarantee counts as their own", path)
	}
	return d, nil
}

// holdsParquet reports whether a folder has a Parquet file for one of the tables.
func holdsParquet(folder string, t records.Tables) bool {
	return slices.ContainsFunc(t.All(), func(one records.Tables) bool {
		return exists(filepath.Join(folder, one.Name+".parquet"))
	})
}

func (a *app) readParquet(folder string, t records.Tables) (*records.Linked, error) {
	for _, one := range t.All() {
		a.inputs = append(a.inputs, filepath.Join(folder, one.Name+".parquet"))
	}
	d, err := parquet.ReadTables(folder, t)
	if err != nil {
		return nil, located(folder, err)
	}
	return d, nil
}

// tableFiles are the files of a folder, read as any other CSV file: unpacked, and either
// well-formed or refused. Read line by line, a line break in a quoted text would begin a row,
// perhaps of another row of the root.
type tableFiles struct {
	app    *app
	folder string
	layout layout
	last   string // the file that is being read
}

func (t *tableFiles) Open(name string) (fs.File, error) {
	t.last = name
	in, end, err := t.app.openPacked(filepath.Join(t.folder, name))
	if err != nil {
		return nil, err
	}
	text, _, err := t.layout.csvOf(in, records.Schema{})
	if err != nil {
		end()
		return nil, err
	}
	return tableFile{Reader: text, end: end}, nil
}

// A tableFile is a file that can only be read.
type tableFile struct {
	io.Reader
	end func()
}

func (tableFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
func (f tableFile) Close() error             { f.end(); return nil }

// tables draws rows of all tables into a new folder or database, which appears whole or not at all.
func (j *sampleJob) tables(ctx context.Context, gen *privgen.Generator) (err error) {
	switch {
	case j.out == stdio:
		return usagef("--out: want the name of a new folder or of a new SQLite database (.db), since the " +
			"generator draws several tables")
	case exists(j.out):
		return usagef("--out: %s exists: want a new name", j.out)
	case !slices.Contains([]string{"auto", "csv", "parquet"}, j.format) || len(j.released) > 0 ||
		j.guard || j.noHeader:
		return usagef("several tables are written as CSV files with headers, as Parquet files or into a " +
			"database, without --released and --guard")
	}
	j.out = filepath.Clean(j.out) // the name of a folder may end with a separator
	opts, err := j.options(gen.Schema())
	if err != nil {
		return err
	}
	conditions, err := j.conditions(gen.Schema())
	if err != nil {
		return err
	}
	opts = append(opts, privgen.Given(conditions...), privgen.Effort(j.attempts))
	if err := errors.Join(j.begin(), j.apart(j.out)); err != nil {
		return err
	}
	room, err := os.MkdirTemp(filepath.Dir(j.out), ".tables-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(room) }() // gone if all is well
	rows, name := 0, ""
	drawn := func(yield func(*records.Linked, error) bool) {
		for l, err := range compose.DrawTables(ctx, gen, j.n, j.seed, opts...) {
			if err == nil {
				rows, name = rows+l.Len(), l.Tables().Name
			}
			if !yield(l, err) {
				return
			}
		}
	}
	format, made := "csv", room
	if ext := strings.ToLower(filepath.Ext(j.out)); ext == ".db" || ext == ".sqlite" ||
		ext == ".sqlite3" {
		format, made = "sqlite", filepath.Join(room, "db")
		err = writeDatabase(ctx, made, drawn)
	} else if j.format == "parquet" {
		format = j.format
		err = parquet.WriteTables(newFiles(room), drawn)
	} else {
		err = j.writeFolder(room, drawn)
	}
	if err == nil {
		err = os.Rename(made, j.out)
	}
	if errors.Is(err, fs.ErrExist) {
		return usagef("--out: %s exists: want a new name", j.out)
	}
	if isA[*synth.Rejected](err) {
		return inputf("the conditions, or the constraints of the schema, are too rare: %w", err)
	}
	if err != nil {
		return err
	}
	r := sampleResult{File: j.out, Format: format, Records: rows, Seed: fmt.Sprint(j.seed),
		Class: j.class}
	return j.result(r, func() string {
		return fmt.Sprintf("%s: %d rows of %s with all that belongs to them (%s, seed %s)", r.File,
			r.Records, name, r.Format, r.Seed)
	})
}

// writeFolder writes a CSV file for each table.
func (j *sampleJob) writeFolder(room string, drawn iter.Seq2[*records.Linked, error]) error {
	comma, err := character("comma", j.comma)
	if err != nil {
		return err
	}
	return records.CSV{Comma: comma}.WriteTables(newFiles(room), drawn)
}

// newFiles returns a function that creates files in a folder.
func newFiles(folder string) func(name string) (io.WriteCloser, error) {
	return func(name string) (io.WriteCloser, error) {
		return os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
}

// writeDatabase writes the tables of a new SQLite database.
func writeDatabase(ctx context.Context, path string,
	drawn iter.Seq2[*records.Linked, error]) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return err
	}
	db, err := openDatabase(path, "rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	created := false
	return sqlrows.InsertTables(ctx, db, sqlrows.Question,
		func(yield func(*records.Linked, error) bool) {
			for l, err := range drawn {
				if err == nil && !created {
					err = createAll(ctx, db, l.Tables())
					created = true
				}
				if !yield(l, err) {
					return
				}
			}
		})
}

func createAll(ctx context.Context, db *sql.DB, t records.Tables) error {
	statements, err := sqlrows.Create(t)
	for _, s := range statements {
		if err == nil {
			_, err = db.ExecContext(ctx, s)
		}
	}
	return err
}

// openDatabase opens an SQLite database. Any path names a file: none is an option of the driver.
func openDatabase(path, mode string) (*sql.DB, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(whole), RawQuery: "mode=" + mode}
	return sql.Open("sqlite", u.String())
}

// isDatabase reports whether a file is an SQLite database. It reads nothing from a pipe, which
// would lose what is read.
func isDatabase(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 16)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "SQLite format 3\x00"
}

// readDatabase reads the tables of an SQLite database. A view or a computed column may have cells
// and rows without end, so the size of the file bounds them.
func (a *app) readDatabase(ctx context.Context, path string, t records.Tables) (
	*records.Linked, error) {
	a.inputs = append(a.inputs, path)
	db, err := openDatabase(path, "ro")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, located(path, err)
	}
	size := int64(0)
	for _, name := range []string{path, path + "-wal"} { // which has the latest rows, if it exists
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	limits := records.Limits{Values: records.Limits{}.ValuesFor(size),
		UnpackedBytes: records.Limits{}.UnpackedFor(size)}
	most := int(min(limits.UnpackedBytes, 1<<30))
	if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, most); err != nil {
		return nil, located(path, err)
	}
	d, err := sqlrows.ReadTables(ctx, conn, t, limits)
	if err != nil {
		return nil, located(path, err)
	}
	return d, nil
}

// linkedSystem is the system of generators of several tables.
const linkedSystem = "linked"

// tablesReport is what report prints for several tables. It is not private.
type tablesReport struct {
	NotPrivate string                `json:"not_private"`
	Roots      int                   `json:"rows_of_the_first_table"`
	Synthetic  evaluate.TableScores  `json:"synthetic"`
	Resampled  evaluate.TableScores  `json:"resampled"`          // what sampling alone costs
	HeldOut    *evaluate.TableScores `json:"held_out,omitempty"` // real rows that were not learnt from
	Quality    tablesQuality         `json:"sdmetrics"`          // of at most mostScored root rows
	Whole      *report.Report        `json:"root_rows"`          // each summed up in one row
}

// tables compares generated tables with real ones.
func (j *reportJob) tables(ctx context.Context, gen *privgen.Generator, args []string) error {
	if len(args) == 0 || j.publish || j.plan+j.synthetic+j.fidelity != "" {
		return usagef("a generator of several tables: want RECORDS, and neither --publish, --plan, " +
			"--synthetic nor --fidelity")
	}
	real, err := j.realTables(ctx, gen, args[0])
	if err != nil {
		return err
	}
	if err := j.apart(j.out); err != nil {
		return err
	}
	r := tablesReport{NotPrivate: "computed from the real records without noise", Roots: real.Len()}
	n := real.Len()
	if j.settings.Rows > 0 {
		n = min(n, j.settings.Rows)
	}
	var drawn []*records.Linked // of the first root rows
	kept := 0
	parts := func(yield func(*records.Linked, error) bool) {
		for l, err := range compose.DrawTables(ctx, gen, n, j.settings.Seed) {
			if err == nil && kept < mostScored {
				drawn, kept = append(drawn, l), kept+l.Len()
			}
			if !yield(l, err) {
				return
			}
		}
	}
	if r.Synthetic, err = evaluate.CompareTables(real, parts); err != nil {
		return err
	}
	if r.Resampled, err = evaluate.ResampledTables(real, j.settings.Seed); err != nil {
		return err
	}
	if r.Quality, err = scoreTables(real, drawn); err != nil {
		return err
	}
	var held *records.Linked
	if j.holdout != "" {
		if held, err = j.realTables(ctx, gen, j.holdout); err != nil {
			return err
		}
		s, err := evaluate.CompareTables(real, func(yield func(*records.Linked, error) bool) {
			yield(held, nil)
		})
		if err != nil {
			return err
		}
		r.HeldOut = &s
	}
	if r.Whole, err = j.whole(ctx, gen, real, held, drawn); err != nil {
		return err
	}
	if j.out != "" {
		if err := j.save(j.out, r.Whole.WriteHTML); err != nil || j.out == stdio {
			return err
		}
	}
	return j.result(r, r.text)
}

// whole reports on root rows that are summed up in one row each. held may be nil.
func (j *reportJob) whole(ctx context.Context, gen *privgen.Generator, real, held *records.Linked,
	drawn []*records.Linked) (*report.Report, error) {
	promise := gen.Guarantee()
	in := report.Input{Title: j.title, Guarantee: &promise}
	if in.Title == "" {
		in.Title = "whole rows of " + real.Tables().Name
	}
	var err error
	if in.Real, err = summedUp(real); err != nil {
		return nil, err
	}
	if in.Synthetic, err = summedUp(drawn...); err == nil && held != nil {
		in.HeldOut, err = summedUp(held)
	}
	if err != nil {
		return nil, err
	}
	return report.Compute(ctx, in, j.settings)
}

// realTables reads the real rows of a generator's tables.
func (j *reportJob) realTables(ctx context.Context, gen *privgen.Generator,
	path string) (*records.Linked, error) {
	for one, err := range compose.DrawTables(ctx, gen, 1, 0) { // which states the tables
		if err != nil {
			return nil, err
		}
		real, err := j.readTables(ctx, path, one.Tables(), j.in)
		if err != nil {
			return nil, err
		}
		if real.Len() == 0 {
			return nil, inputf("%s: the first table has no rows", path)
		}
		return real, nil
	}
	return nil, inputf("the generator draws nothing")
}

func (r tablesReport) text() string {
	var b strings.Builder
	b.WriteString("mean distances (total variation) from the real rows; not private\n")
	line := func(name string, s evaluate.TableScores) {
		fmt.Fprintf(&b, "  %-10s %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f\n", name, s.Lengths, s.Columns,
			s.Pairs, s.Parents, s.Steps, s.Starts, s.Ends)
	}
	b.WriteString("              lengths  columns    pairs  parents    steps   starts     ends\n")
	line("synthetic", r.Synthetic)
	if r.HeldOut != nil {
		line("held out", *r.HeldOut)
	}
	line("resampled", r.Resampled)
	b.WriteString("scores of SDMetrics, 1 if identical; - if undefined\n ")
	for _, q := range []struct {
		name  string
		score *float64
	}{{"column shapes", r.Quality.ColumnShapes}, {"column pairs", r.Quality.ColumnPairTrends},
		{"cardinality", r.Quality.Cardinality}, {"intertable trends", r.Quality.InterTableTrends}} {
		text := "-"
		if q.score != nil {
			text = fmt.Sprintf("%.4f", *q.score)
		}
		fmt.Fprintf(&b, " %s %s;", q.name, text)
	}
	b.WriteString("\nwhole root rows, each summed up in one row:\n")
	return b.String() + reportText(r.Whole)
}
