package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

// stdio is the name of standard input and output.
const stdio = "-"

// layout describes the format of a file of records.
type layout struct {
	format      string
	comma       string
	encoding    string
	comment     string
	noHeader    bool
	names       []string
	missing     []string
	firstRecord bool
	labels      string
	person      string
	sheet       string
	lines       bool // CSV: every line is a record
	strays      float64
	onStray     func(column int, problem, text string)
}

var inputFormats = []string{"auto", "csv", "xlsx", "jsonl", "parquet", "npz", "npy", "idx",
	"transactions"}

func (l *layout) flags(f *pflag.FlagSet) {
	f.StringVar(&l.format, "format", "auto",
		"`format` of the records: "+listed(inputFormats[1:], "or")+"; auto decides by the file's name")
	f.StringVar(&l.comma, "comma", "auto", "CSV: `character` between fields; the word tab for a tab "+
		"character; auto finds a comma, a semicolon, a tab or a bar in the header")
	f.StringVar(&l.encoding, "encoding", "auto",
		"CSV: `encoding` of the text: utf-8, utf-16 or latin-1; auto finds utf-16")
	f.StringVar(&l.comment, "comment", "", "CSV: skip lines that begin with this `character`")
	f.BoolVar(&l.noHeader, "no-header", false, "CSV: the first line is a record, not a header")
	f.StringSliceVar(&l.names, "names", nil,
		"CSV: `names` of the file's columns, separated by commas, if the file has no header")
	f.StringSliceVar(&l.missing, "missing", nil,
		"CSV: `texts` that mean a missing value; by default the empty text, ? and the usual ones, such "+
			"as NA, null and -")
	f.BoolVar(&l.firstRecord, "first-record", false,
		"CSV: accept a first line that looks like a header as a record")
	f.StringVar(&l.person, "person", "",
		"CSV and xlsx: `column` that names the person of a row, if the plan protects persons")
	f.BoolVar(&l.lines, "lines", false,
		"CSV: read each line by itself, as one record; by default a quoted field may have line breaks, "+
			"and a malformed file is refused")
	f.StringVar(&l.sheet, "sheet", "", "xlsx: `name` of the sheet; by default the first one")
	f.StringVar(&l.labels, "labels", "", "idx: `file` of the classes")
	f.Float64Var(&l.strays, "strays", 0.5,
		"tables: refuse records if a larger `share` of a column's cells is outside the schema; 1 "+
			"accepts any")
}

// csv returns the options of a CSV reader.
func (l *layout) csv() (records.CSV, error) {
	c := records.CSV{Header: !l.noHeader && l.names == nil, Names: l.names, FirstRecord: l.firstRecord,
		Strays: l.onStray, Missing: usualMissing,
		Limits: records.Limits{Plain: true}} // unpacked before
	if l.missing != nil {
		c.Missing = l.missing
	}
	var err error
	if l.comma != "auto" {
		if c.Comma, err = character("comma", l.comma); err != nil {
			return c, err
		}
	}
	c.Comment, err = character("comment", l.comment)
	return c, err
}

func character(flag, text string) (rune, error) {
	switch {
	case text == "":
		return 0, nil
	case text == "tab" || text == `\t`:
		return '\t', nil
	case utf8.RuneCountInString(text) != 1:
		return 0, usagef("--%s: %q: want one character", flag, text)
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r, nil
}

// of returns the format of the named file.
func (l *layout) of(path string, s records.Schema) (string, error) {
	if l.format != "auto" {
		return l.format, oneOf("format", l.format, inputFormats...)
	}
	name := unpackedName(path)
	switch ext := filepath.Ext(name); {
	case ext == ".csv" || ext == ".tsv" || ext == ".data" || ext == ".txt" && !s.Sparse():
		return "csv", nil
	case ext == ".jsonl" || ext == ".ndjson":
		return "jsonl", nil
	case ext == ".xlsx" || ext == ".parquet" || ext == ".npz" || ext == ".npy":
		return ext[1:], nil
	case strings.HasSuffix(name, "idx3-ubyte") || ext == ".idx":
		return "idx", nil
	case s.Sparse():
		return "transactions", nil
	case path == stdio:
		return "csv", nil
	}
	return "", usagef("--format: the file name %q does not determine the format: want %s", path,
		listed(inputFormats[1:], "or"))
}

// read reads the records of a file, or of standard input.
func (a *app) read(path string, l layout, s records.Schema) (records.Data, error) {
	format, err := l.of(path, s)
	if err != nil {
		return nil, err
	}
	if err := fits(format, s); err != nil {
		return nil, err
	}
	if err := errors.Join(l.checkPerson(format, s), checkShare(l.strays)); err != nil {
		return nil, err
	}
	d, err := a.readAs(format, path, l, s)
	if err != nil {
		return nil, located(path, err)
	}
	if l.lines && format == "csv" {
		a.note("--lines: each line of %s is read as one record. A guarantee for records then holds for "+
			"single lines", path)
	}
	if l.strays == 1 {
		return d, nil
	}
	if checks := checkColumns(d); checks != nil {
		return d, refuseStrays(path, checks, l.strays)
	}
	return d, refuseDefects(path, d, l.strays)
}

func checkShare(share float64) error {
	if !(share >= 0 && share <= 1) {
		return usagef("--strays: %v: want a share from 0 to 1", share)
	}
	return nil
}

// checkPerson fails if the plan protects persons and the column of the persons is not given.
func (l layout) checkPerson(format string, s records.Schema) error {
	switch rows := s.RowsPerPerson(); {
	case rows > 0 && format != "csv" && format != "xlsx":
		return usagef("the plan protects persons of up to %d rows each: want a CSV or xlsx file, got %s", rows,
			format)
	case rows > 0 && l.person == "":
		return usagef("--person: want the column that names the person of a row, because the plan "+
			"protects persons of up to %d rows each", rows)
	}
	return nil
}

// checkRows fails if a column of persons is given although only single rows are protected.
// Otherwise the user could mistake a guarantee for rows for a guarantee for persons.
func (l layout) checkRows(s records.Schema) error {
	if l.person != "" && s.RowsPerPerson() == 0 {
		return usagef("--person %q: not allowed, because the plan protects single rows, not persons; to "+
			"protect persons, give --rows-per-person to plan or draft", l.person)
	}
	return nil
}

// located adds the file's name to an error that does not contain it.
func located(path string, err error) error {
	if path == stdio {
		path = "standard input"
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return err
	}
	err = faultIn(err)
	if errors.Is(err, records.ErrHeader) {
		err = errors.New("the first line looks like a header: want neither --no-header nor --names, or " +
			"--first-record if it is a record")
	}
	return badInput{fmt.Errorf("%s: %w", path, err)}
}

// fits returns an error for a format that cannot hold the schema's records.
func fits(format string, s records.Schema) error {
	table := s.Kind() == records.MixedTable
	good := false
	switch format {
	case "csv":
		good = !s.Sparse()
	case "xlsx", "jsonl", "parquet":
		good = table
	case "npz", "npy", "idx":
		good = !table && !s.Sparse()
	case "transactions":
		good = s.Sparse()
	}
	if !good {
		return inputf("--format: %s cannot hold records of this schema: %v", format, s)
	}
	return nil
}

func (a *app) readAs(format, path string, l layout, s records.Schema) (records.Data, error) {
	if format == "idx" {
		return records.OpenIDX(path, l.labels, s)
	}
	in, closeIn, err := a.openPacked(path)
	if err != nil {
		return nil, err
	}
	defer closeIn()
	switch format {
	case "csv", "xlsx":
		return readCSV(format, in, l, s)
	case "jsonl":
		return nonNil(records.JSONLines{}.ReadFrame(in, s))
	case "transactions":
		return nonNil(records.ReadTransactions(in, s))
	case "npy":
		return nonNil(records.ReadNPY(in, s))
	}
	at, size, remove, err := seekable(in)
	if err != nil {
		return nil, err
	}
	defer remove()
	if format == "parquet" {
		return nonNil(parquet.ReadFrame(at, size, s))
	}
	return nonNil(records.ReadNPZ(at, size, s))
}

// readCSV reads a CSV file, or a sheet of a workbook as if it were one.
func readCSV(format string, in io.Reader, l layout, s records.Schema) (records.Data, error) {
	in, c, end, err := l.textOf(format, in, s)
	if err != nil {
		return nil, err
	}
	defer end()
	if rows := s.RowsPerPerson(); rows > 0 {
		return nonNil(c.ReadPersons(in, s.ByPerson(0), l.person, rows))
	}
	if s.Kind() == records.MixedTable {
		d, err := c.ReadFrame(in, s)
		if errors.Is(err, records.ErrFormat) && strings.Contains(err.Error(), "no column is named") &&
			c.Header {
			err = fmt.Errorf("%w; for a file without a header, give --no-header or --names", err)
		}
		return nonNil(d, err)
	}
	return nonNil(c.Read(in, s))
}

// nonNil returns a nil interface if there is an error, instead of a nil pointer in an interface.
func nonNil[D records.Data](d D, err error) (records.Data, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// open opens a file, or standard input.
func (a *app) open(path string) (io.Reader, func() error, error) {
	if path == stdio {
		return a.stdin, func() error { return nil }, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

// openPacked opens a file, or standard input, which gzip or zstd may have packed.
func (a *app) openPacked(path string) (io.Reader, func(), error) {
	in, closeIn, err := a.open(path)
	if err != nil {
		return nil, nil, err
	}
	out, end, err := unpack(in)
	if err != nil {
		closeIn()
		return nil, nil, err
	}
	return out, func() { end(); closeIn() }, nil
}

// unpackedName returns the name of a file in small letters, without the ending of its compression.
func unpackedName(path string) string {
	name := strings.ToLower(path)
	for _, ending := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// readFile reads a whole file of at most the given number of bytes.
func readFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, most)
}

// readAll reads the whole of an input of at most the given number of bytes.
func readAll(in io.Reader, path string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if int64(len(text)) > most {
		return nil, inputf("%s: the file has more than %d bytes", path, most)
	}
	return text, err
}

// seekable returns a reader at any offset. It copies a pipe, which cannot seek and may be larger
// than the memory, to a temporary file that only the user can read. The last result removes it.
func seekable(in io.Reader) (io.ReaderAt, int64, func(), error) {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, info.Size(), func() {}, nil
		}
	}
	f, err := os.CreateTemp("", "privgen-*")
	if err != nil {
		return nil, 0, nil, err
	}
	_ = os.Remove(f.Name()) // at once where an open file can be removed, so that no crash leaves it
	remove := func() { f.Close(); _ = os.Remove(f.Name()) }
	n, err := io.Copy(f, in)
	if err != nil {
		remove()
		return nil, 0, nil, err
	}
	return f, n, remove, nil
}

// files returns a function that completes names of files with these extensions.
func files(endings ...string) func(*cobra.Command, []string, string) ([]string,
	cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}
