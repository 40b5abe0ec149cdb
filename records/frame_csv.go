package records

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/seed7ba64551/privgen/param"
)

// ReadFrame reads records of a table, one a line, plain or gzip-compressed; see
// [CSV] for how columns are found. Blanks around a field do not count, nor do
// blank lines.
//
// What a field holds is never an error: a text that is no number or no level is
// encoded as the schema says, and [Check] reports it.
//
// Errors: [ErrFormat], naming line and column, where a line has another number
// of fields than the first, a quote is not closed or the header lacks a column;
// *[param.Error] for a schema or a layout that does not fit.
func (c CSV) ReadFrame(r io.Reader, s Schema) (*Frame, error) {
	in, err := c.frameReader(r, s)
	if err != nil {
		return nil, err
	}
	if err := in.read(maxRows); err != nil && err != io.EOF {
		return nil, err
	}
	return in.rows.Frame(), nil
}

// OpenFrame is [CSV.ReadFrame] on a file.
func (c CSV) OpenFrame(path string, s Schema) (*Frame, error) {
	return withFile(path, func(r io.Reader) (*Frame, error) { return c.ReadFrame(r, s) })
}

// Stream reads records of a table in frames of the given number of rows, the
// last one of what is left, in memory that does not grow with the file. It ends
// after the first error, which is one of those of [CSV.ReadFrame].
func (c CSV) Stream(r io.Reader, s Schema, rows int) iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		if rows < 1 {
			yield(nil, param.New("records.CSV.Stream rows", rows, "a positive number"))
			return
		}
		in, err := c.frameReader(r, s)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			err := in.read(rows)
			if err != nil && err != io.EOF {
				yield(nil, err)
				return
			}
			if in.rows.Len() > 0 && !yield(in.rows.Frame(), nil) || err == io.EOF {
				return
			}
		}
	}
}

// frameReader is a file of table rows being read.
type frameReader struct {
	lines   *csv.Reader
	rows    *FrameBuilder
	fields  []int // which field of a line holds each column
	missing map[string]bool
}

func (c CSV) frameReader(r io.Reader, s Schema) (*frameReader, error) {
	if err := c.validateFrames(s); err != nil {
		return nil, err
	}
	rows, err := NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	br, err := plain(r)
	if err != nil {
		return nil, err
	}
	in := &frameReader{lines: c.reader(br), rows: rows, missing: map[string]bool{}}
	for _, text := range c.missing() {
		in.missing[text] = true
	}
	return in, in.place(c, s)
}

// reader splits lines, after the mark with which some programs begin a file.
func (c CSV) reader(br *bufio.Reader) *csv.Reader {
	if mark, _ := br.Peek(3); string(mark) == "\ufeff" {
		br.Discard(3)
	}
	lines := csv.NewReader(br)
	lines.ReuseRecord = true
	lines.Comment = c.Comment
	if c.Comma != 0 {
		lines.Comma = c.Comma
	}
	lines.TrimLeadingSpace = !unicode.IsSpace(lines.Comma)
	return lines
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
		header, err := in.header()
		if err != nil {
			return err
		}
		if c.Names == nil {
			names = header
		}
	}
	in.lines.FieldsPerRecord = len(names)
	for _, column := range s.table.columns {
		at := slices.Index(names, column.name)
		if at < 0 {
			return malformed("no column is named %q", column.name)
		}
		if slices.Contains(names[at+1:], column.name) {
			return malformed("two columns are named %q", column.name)
		}
		in.fields = append(in.fields, at)
	}
	return nil
}

// header reads the line of names.
func (in *frameReader) header() ([]string, error) {
	in.lines.FieldsPerRecord = -1
	line, err := in.lines.Read()
	if err == io.EOF {
		return nil, malformed("the csv file has no header")
	}
	if err != nil {
		return nil, csvError(err)
	}
	names := slices.Clone(line)
	for i := range names {
		names[i] = strings.Clone(strings.TrimSpace(names[i]))
	}
	return names, nil
}

// read appends at most n rows; io.EOF says that there are no more.
func (in *frameReader) read(n int) error {
	for in.rows.Len() < n {
		line, err := in.lines.Read()
		if errors.Is(err, csv.ErrFieldCount) && blank(line) {
			continue
		}
		if err == io.EOF {
			return err
		}
		if err != nil {
			return csvError(err)
		}
		for j, at := range in.fields {
			in.add(j, strings.TrimSpace(line[at]))
		}
		in.rows.n++
	}
	return nil
}

// blank reports whether there is nothing on a line.
func blank(line []string) bool { return len(line) == 1 && strings.TrimSpace(line[0]) == "" }

// add reads one field. A text that names a level is that level, even if it
// usually means missing.
func (in *frameReader) add(j int, text string) {
	if in.missing[text] {
		if _, level := in.rows.lookup[j][text]; !level {
			in.rows.appendMissing(j)
			return
		}
	}
	in.rows.appendText(j, text)
}

// missing are the texts of a missing value.
func (c CSV) missing() []string {
	if c.Missing == nil {
		return []string{"", "?"}
	}
	return c.Missing
}

// validateFrames judges the layout of a file of tables.
func (c CSV) validateFrames(s Schema) error {
	errs := []error{s.Validate(), c.validateCharacters()}
	if errs[0] == nil && s.kind != MixedTable {
		errs = append(errs, param.New("records.Schema.Kind", s.kind, "tables, made by NewSchema; vectors are read by Read"))
	}
	if c.LabelColumn != 0 {
		errs = append(errs, param.New("records.CSV.LabelColumn", c.LabelColumn, "0: a table's label is a column of its schema"))
	}
	for i, name := range c.Names {
		if name != "" && slices.Contains(c.Names[:i], name) {
			errs = append(errs, param.New("records.CSV.Names", fmt.Sprintf("%q twice", name), "names of their own"))
		}
	}
	return errors.Join(errs...)
}
