package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// ReadFrame reads records of a table, one per line, plain or gzip-compressed; see [CSV] for how
// columns are found. Blanks around a field and blank lines are ignored.
//
// The content of a line is never an error. A text that is not a number, or not a level, is encoded
// as the schema says. A line that cannot be read becomes a record of such texts. [Check] reports
// both.
//
// Errors: [ErrFormat] if the header lacks a column, if the first line looks like a header that is
// not declared, or for damaged compression; *[LimitError]; *[param.Error] for a schema or a layout
// that does not fit.
func (c CSV) ReadFrame(r io.Reader, s Schema) (*Frame, error) {
	in, err := c.frameReader(r, s)
	if err != nil {
		return nil, err
	}
	return readFrame(in)
}

// OpenFrame is [CSV.ReadFrame] on a file.
//
// Errors: see [CSV.ReadFrame]; also errors of the file system.
func (c CSV) OpenFrame(path string, s Schema) (*Frame, error) {
	return withFile(path, func(r io.Reader) (*Frame, error) { return c.ReadFrame(r, s) })
}

// Stream reads records of a table in frames of the given number of rows; the last frame may have
// fewer. Its memory does not grow with the file. It ends after the first error. For its errors, see
// [CSV.ReadFrame].
func (c CSV) Stream(r io.Reader, s Schema, rows int) iter.Seq2[*Frame, error] {
	return streamFrames("records.CSV.Stream rows", rows, func() (rowReader, error) {
		return c.frameReader(r, s)
	})
}

// frameReader reads the rows of a table from a file.
type frameReader struct {
	lines   *csvLines
	rows    *FrameBuilder
	width   int   // number of fields of a line
	fields  []int // which field of a line holds each column
	missing map[string]bool
	codes   []textCodes // of each column: of levels and of texts of a missing value
	first   bool        // the next line is the first, and is not known to be a record
	names   []string
	// keep reports whether a line is a record; nil for all lines
	keep   func(fields [][]byte, fault lineFault) (bool, error)
	strays func(column int, problem, text string)
}

func (in *frameReader) builder() *FrameBuilder { return in.rows }

func (c CSV) frameReader(r io.Reader, s Schema) (*frameReader, error) {
	if err := c.validateFrames(s); err != nil {
		return nil, err
	}
	rows, err := NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	source, err := openInput(r, c.Limits)
	if err != nil {
		return nil, err
	}
	lines := newCSVLines(source, c.Comma, c.Comment, max(len(s.table.columns), len(c.Names)))
	in := &frameReader{lines: lines, rows: rows, missing: map[string]bool{}, first: !c.Header &&
		!c.FirstRecord, strays: c.Strays}
	for _, text := range c.MissingTexts() {
		in.missing[text] = true
	}
	for j, column := range s.table.columns {
		in.codes = append(in.codes, newTextCodes(rows.codes(j), in.missing, column.absent()))
	}
	return in, in.place(c, s)
}

// place finds the columns of the schema among the fields of a line.
func (in *frameReader) place(c CSV, s Schema) error {
	names := c.Names
	if names == nil {
		for _, column := range s.table.columns {
			names = append(names, column.name)
		}
	}
	if c.Header {
		header, err := in.lines.header(max(len(s.table.columns), len(c.Names)))
		if err != nil {
			return err
		}
		if c.Names == nil {
			names = header
		}
	}
	in.width, in.names = len(names), names
	places, twice := make(map[string]int, len(names)), map[string]bool{}
	for i, name := range names {
		_, seen := places[name]
		places[name], twice[name] = i, seen || twice[name]
	}
	for _, column := range s.table.columns {
		at, found := places[column.name]
		if column.kind.isIdentifier() { // identifiers are never read
			in.fields = append(in.fields, -1)
			continue
		}
		if !found {
			return malformed("no column is named %q: a header must name all columns of the schema",
				column.name)
		}
		if twice[column.name] {
			return malformed("several columns of the file are named %q", column.name)
		}
		in.fields = append(in.fields, at)
	}
	return nil
}

// count returns the number of fields with the given name.
func (in *frameReader) count(name string) (n int) {
	for _, other := range in.names {
		if other == name {
			n++
		}
	}
	return n
}

// read appends at most n rows; io.EOF means that there are no more.
func (in *frameReader) read(n int) error {
	for in.rows.Len() < n {
		fields, fault, err := in.lines.next(in.width, in.width)
		if err == nil && in.first && fault == readable && in.named(fields) {
			err = undeclaredHeader()
		}
		kept := true
		if err == nil && in.keep != nil {
			kept, err = in.keep(fields, fault)
		}
		if err == nil {
			err = in.lines.in.spend(len(in.fields))
		}
		if err != nil {
			return err
		}
		if in.first = false; kept {
			in.row(fields, fault)
		}
	}
	return nil
}

// row appends one record. If its line has a fault, its values are unknown.
func (in *frameReader) row(fields [][]byte, fault lineFault) {
	for j, at := range in.fields {
		var text []byte
		if fault == readable && at >= 0 {
			text = trimmed(fields[at])
			in.add(j, text)
		} else {
			in.rows.appendUnknown(j)
		}
		if in.strays == nil {
			continue
		}
		code := &in.rows.schema.table.cells[j]
		if problem := code.problem(&in.rows.cells[j], in.rows.n); problem != "" {
			in.strays(j, problem, string(text))
		}
	}
	in.rows.n++
}

// named reports whether a line looks like column names rather than a record.
func (in *frameReader) named(fields [][]byte) bool {
	numbers := 0
	for j, at := range in.fields {
		if at < 0 {
			continue
		}
		text := string(bytes.TrimSpace(fields[at]))
		if levels := in.rows.codes(j); levels != nil {
			if _, level := levels[text]; level {
				return false
			}
			continue
		}
		if numbers++; in.missing[text] || !param.IsHeading(text) {
			return false
		}
	}
	return numbers > 0
}

// add reads one field. The name of a level is read as the level, even if it is also a text for a
// missing value.
func (in *frameReader) add(j int, text []byte) {
	code := in.codes[j].find(text)
	switch kept := &in.rows.schema.table.cells[j]; {
	case code == missingLevel:
		in.rows.appendMissing(j)
	case code != unknownLevel:
		in.rows.appendCode(j, code)
	case kept.form != nil:
		in.rows.appendText(j, kept.form.usual(string(text)))
	case kept.tick != nil || in.rows.codes(j) != nil:
		in.rows.appendText(j, string(text))
	default:
		numbers := &in.rows.cells[j].numbers
		*numbers = push(*numbers, number64(text))
	}
}

// validateFrames checks the layout of a file of tables.
func (c CSV) validateFrames(s Schema) error {
	errs := []error{s.Validate(), c.validateCharacters()}
	if errs[0] == nil && s.kind != MixedTable {
		errs = append(errs,
			param.New("records.Schema.Kind", s.kind,
				"a table, made by NewSchema; vectors and images are read by Read"))
	}
	for i, name := range c.Names {
		if name != "" && slices.Contains(c.Names[:i], name) {
			errs = append(errs,
				param.New("records.CSV.Names", fmt.Sprintf("%q twice", name), "names that are unique"))
		}
		if strings.ContainsAny(name, "\r\n") {
			errs = append(errs,
				param.New("records.CSV.Names", fmt.Sprintf("%q", name), "names without line breaks"))
		}
	}
	return errors.Join(errs...)
}
