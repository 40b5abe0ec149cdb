package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

type sampleJob struct {
	*app
	n        int
	seed     uint64
	seeded   bool
	class    string
	where    []string
	file     string // of constraints
	released []string
	about    float64 // the number of records that the released tables are about
	fits     []agreement
	attempts int
	limited  bool // whether --attempts was given
	limit    time.Duration
	search   *search // nil if there are no conditions
	format   string
	comma    string
	noHeader bool
	guard    bool
	guarding bool // whether --guard was given
	out      string
}

var outputFormats = []string{"csv", "xlsx", "jsonl", "parquet", "npz", "png", "transactions"}

func newSample(a *app) *cobra.Command {
	j := &sampleJob{app: a}
	c := &cobra.Command{
		Use:     "sample GENERATOR",
		GroupID: "work",
		Short:   "Draw any number of synthetic records",
		Long: "Sample draws synthetic records. Any number of draws of any size costs no further privacy.\n" +
			"Records are streamed, so memory does not grow with their number.\n\n" +
			"A condition of --where is column=value, column>=value or column<=value for a table, and\n" +
			"item=number for sets. Records that do not meet all conditions are discarded. If the conditions " +
			"are\nrare, sample searches for a limited time, then writes the records that it found, and says " +
			"how\nmany.\n\n" +
			"A generator of several tables draws -n rows of the first table with all rows that belong to " +
			"them,\nand writes a file for each table into the new folder --out (CSV, or Parquet with --format), or\na " +
			"new SQLite database if its name ends in .db. Conditions are on the first table.",
		Example: "  privgen sample people.gen -n 30000 --seed 1 -o synthetic.csv\n" +
			"  privgen sample people.gen -n 1000 --class '>50K' --where 'age>=30' --format jsonl",
		Args:              arguments("GENERATOR"),
		ValidArgsFunction: files("gen"),
		RunE: a.action(func(c *cobra.Command, args []string) error {
			j.seeded, j.guarding = c.Flags().Changed("seed"), c.Flags().Changed("guard")
			j.limited = c.Flags().Changed("attempts")
			return j.run(c.Context(), args[0])
		}),
	}
	f := c.Flags()
	f.IntVarP(&j.n, "n", "n", 0, "`number` of records")
	f.Uint64Var(&j.seed, "seed", 0, "seed, a `number`, that makes the draw repeatable; by default every draw differs")
	f.StringVar(&j.class, "class", "", "draw only records of the named `class`")
	f.StringArrayVar(&j.where, "where", nil, "`condition` on the records; if repeated, all conditions must hold")
	f.StringVar(&j.file, "constraints", "", "`file` of further conditions, in JSON as a schema's field "+
		"\"constraints\"")
	f.StringArrayVar(&j.released, "released", nil, "`file` of noisy tables, in CSV or JSON, that were "+
		"released before and that the records shall agree with; see connect/released")
	f.Float64Var(&j.about, "released-records", 0, "`number` of records that the released tables are "+
		"about; by default their sum")
	f.IntVar(&j.attempts, "attempts", 1000,
		"with conditions: largest `number` of records drawn for each requested record")
	f.DurationVar(&j.limit, "search", 10*time.Second,
		"with conditions that are rare: longest `time` to search for records that meet them")
	f.StringVar(&j.format, "format", "auto",
		"`format`: "+listed(outputFormats, "or")+"; auto decides by the file's name")
	f.StringVar(&j.comma, "comma", ",", "CSV: `character` between fields; the word tab for a tab character")
	f.BoolVar(&j.noHeader, "no-header", false, "CSV: write no header")
	f.BoolVar(&j.guard, "guard", false, "CSV and xlsx: write an apostrophe before a text that a "+
		"spreadsheet program could take for a formula; by default for xlsx only")
	f.StringVarP(&j.out, "out", "o", stdio, "`file` to write; - for standard output")
	c.MarkFlagRequired("n")
	c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(outputFormats,
		cobra.ShellCompDirectiveNoFileComp))
	return c
}

// sampleResult is what --json prints.
type sampleResult struct {
	File    string `json:"file"`
	Format  string `json:"format"`
	Records int    `json:"records"`
	// how many were wanted, if the conditions were so rare that fewer were found
	Wanted int    `json:"wanted,omitempty"`
	Seed   string `json:"seed"` // a string, since JSON numbers lose digits
	Class  string `json:"class,omitempty"`
	// how close the records are to the released tables
	Released []agreement `json:"released,omitempty"`
}

func (j *sampleJob) run(ctx context.Context, path string) error {
	switch {
	case j.n < 1:
		return usagef("-n: %d: want a number of records, at least 1", j.n)
	case j.limit < 0:
		return usagef("--search: %v: want a time such as 10s, or 0 for no search", j.limit)
	case j.attempts < 1:
		return usagef("--attempts: %d: want a number of draws, at least 1", j.attempts)
	case j.asJSON && j.out == stdio:
		return usagef("--json: want --out, since standard output holds the records")
	}
	gen, err := openGenerator(path)
	if err != nil {
		return err
	}
	if !j.seeded {
		j.seed = rand.Uint64()
	}
	if gen.System() == linkedSystem {
		return j.tables(ctx, gen)
	}
	s := gen.Schema()
	if j.format, err = j.formatFor(s); err != nil {
		return err
	}
	if err := j.checkSheet(s); err != nil {
		return err
	}
	parts, err := j.draw(ctx, gen)
	if err != nil {
		return err
	}
	err = j.save(j.out, func(w io.Writer) error {
		return packed(j.out, w, func(w io.Writer) error { return j.write(w, s, parts) })
	})
	if isA[*synth.Rejected](err) && !isA[usage](err) { // the constraints of the schema
		return inputf("the constraints of the schema are too rare: %w", err)
	}
	if err != nil {
		return err
	}
	r := sampleResult{File: j.out, Format: j.format, Records: j.n, Seed: fmt.Sprint(j.seed),
		Class: j.class, Released: j.fits}
	if j.search != nil && j.search.unmet > 0 {
		j.note("up to %d records are the best of several attempts, of which the model accepts none: their "+
			"values meet the conditions, but do not belong together", j.search.unmet)
	}
	if j.search != nil && j.search.ended {
		r.Records, r.Wanted = j.search.found, j.n
		j.note("%s", j.search.words())
	}
	if j.out == stdio {
		return nil
	}
	return j.result(r, func() string {
		return fmt.Sprintf("%s: %d synthetic records (%s, seed %s)", r.File, r.Records, r.Format, r.Seed)
	})
}

// openGenerator reads a generator file.
func openGenerator(path string) (*privgen.Generator, error) {
	g, err := privgen.LoadFile(path)
	if errors.Is(err, privgen.ErrFormat) && !errors.Is(err, privgen.ErrTruncated) {
		return nil, inputf("%s: want a generator, as privgen fit writes it: %w", path, err)
	}
	if err != nil {
		return nil, located(path, err)
	}
	return g, nil
}

// formatFor returns the format to write. It must be able to hold the schema's records.
func (j *sampleJob) formatFor(s records.Schema) (string, error) {
	possible := []string{"csv", "npz"}
	switch {
	case s.IsImage():
		possible = []string{"csv", "npz", "png"}
	case s.Sparse():
		possible = []string{"transactions"}
	case s.Kind() == records.MixedTable:
		possible = []string{"csv", "xlsx", "jsonl", "parquet", "npz"}
	}
	if j.format == "auto" {
		name := unpackedName(j.out)
		for _, format := range possible {
			if strings.HasSuffix(name, "."+format) {
				return format, nil
			}
		}
		if filepath.Ext(name) != "" && len(possible) > 1 {
			return "", usagef("--format: the file name %q does not determine the format: want %s", j.out,
				listed(possible, "or"))
		}
		return possible[0], nil
	}
	return j.format, oneOf("format", j.format, possible...)
}

// draw streams the requested records.
func (j *sampleJob) draw(ctx context.Context, gen *privgen.Generator) (iter.Seq2[records.Data,
	error], error) {
	s := gen.Schema()
	opts, err := j.options(s)
	if err != nil {
		return nil, err
	}
	if len(j.released) > 0 {
		return j.matched(ctx, gen)
	}
	if len(j.where) == 0 && j.file == "" {
		return ahead(gen.Stream(ctx, j.n, append(opts, privgen.Seed(j.seed))...)), nil
	}
	conditions, err := j.conditions(s)
	if err != nil {
		return nil, err
	}
	j.search = &search{gen: gen, opts: opts, conditions: conditions, seed: j.seed, n: j.n,
		attempts: j.attempts, most: math.MaxInt, limit: j.limit}
	if j.limited && j.attempts < math.MaxInt/j.n {
		j.search.most = j.attempts * j.n
	}
	return j.search.parts(ctx), nil
}

// options returns the options of every draw.
func (j *sampleJob) options(s records.Schema) (opts []privgen.DrawOption, err error) {
	if j.class != "" {
		label := slices.Index(s.ClassNames(), j.class)
		if label < 0 {
			return nil, usagef("--class: %q: want one of %s", j.class, classList(s))
		}
		opts = append(opts, privgen.OfClass(label))
	}
	return opts, nil
}

// ahead draws records on a core of its own while the records before them are written.
func ahead(parts iter.Seq2[records.Data, error]) iter.Seq2[records.Data, error] {
	type drawn struct {
		part records.Data
		err  error
	}
	return func(yield func(records.Data, error) bool) {
		next, done := make(chan drawn, 4), make(chan struct{})
		go func() {
			defer close(next)
			for part, err := range parts {
				select {
				case next <- drawn{part, err}:
				case <-done:
					return
				}
			}
		}()
		defer func() {
			close(done)
			for range next { // until the drawing has ended
			}
		}()
		for d := range next {
			if !yield(d.part, d.err) {
				return
			}
		}
	}
}

// conditions returns all conditions on the records.
func (j *sampleJob) conditions(s records.Schema) ([]records.Constraint, error) {
	list, err := parseConditions(j.where, s)
	if err != nil || j.file == "" {
		return list, err
	}
	more, err := readConstraints(j.file, s)
	if err != nil {
		return nil, err
	}
	list = append(list, more...)
	if _, err := records.NewEnforcer(s, list...); err != nil {
		return nil, usagef("--where, --constraints: %w", err)
	}
	return list, nil
}

func classList(s records.Schema) string {
	names := s.ClassNames()
	if len(names) == 0 {
		return "no class, since the generator's records have no classes"
	}
	return fmt.Sprintf("%q", names)
}

// write writes records as they are drawn.
func (j *sampleJob) write(w io.Writer, s records.Schema, parts iter.Seq2[records.Data,
	error]) error {
	comma, err := character("comma", j.comma)
	if err != nil {
		return err
	}
	layout := records.CSV{Comma: comma, Header: !j.noHeader}
	switch {
	case j.format == "jsonl":
		return records.JSONLines{}.WriteFrames(w, s, parts)
	case j.format == "parquet":
		return parquet.WriteFrames(w, s, parts)
	case j.format == "npz":
		n, parts, err := counted(j.n, j.search != nil, parts)
		if err != nil {
			return err
		}
		return writeNPZ(w, s, n, parts)
	case j.format == "png":
		return writePNG(w, s, parts)
	case j.format == "xlsx":
		return writeBook(w, s, layout, j.guard || !j.guarding, parts)
	case j.format == "csv" && s.Kind() == records.MixedTable && j.guard:
		return writeGuarded(w, s, layout, parts)
	case j.format == "csv" && s.Kind() == records.MixedTable:
		return layout.WriteFrames(w, s, parts)
	}
	for part, err := range parts {
		if err != nil {
			return err
		}
		if err := writePart(w, j.format, layout, part); err != nil {
			return err
		}
		layout.Header = false // only the first part has the header
	}
	return nil
}

// counted returns how many records a sequence has, which the head of an npz file states. If a
// search may find fewer than n, counted keeps them in memory.
func counted(n int, searched bool, parts iter.Seq2[records.Data, error]) (int,
	iter.Seq2[records.Data, error], error) {
	if !searched {
		return n, parts, nil
	}
	n = 0
	var all []records.Data
	for part, err := range parts {
		if err != nil {
			return 0, nil, err
		}
		n, all = n+part.Len(), append(all, part)
	}
	return n, func(yield func(records.Data, error) bool) {
		for _, part := range all {
			if !yield(part, nil) {
				return
			}
		}
	}, nil
}

func writePart(w io.Writer, format string, layout records.CSV, part records.Data) error {
	if format == "transactions" {
		return records.WriteTransactions(w, part)
	}
	t, ok := part.(*records.Table)
	if !ok {
		return inputf("records of type %T cannot be written as CSV", part)
	}
	return layout.Write(w, t)
}
