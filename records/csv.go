package records

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/param"
)

// CSV says how a file of comma-separated values is laid out.
//
// [CSV.Read] and [CSV.Write] are for vectors and images. The zero value is then a
// file of numbers without a header whose last column, if the schema has classes,
// is the class name.
//
// [CSV.ReadFrame], [CSV.Stream] and [CSV.WriteFrame] are for tables. Their columns
// are found by name, in any order and among others that are ignored, where a
// header or Names names them; otherwise a line holds exactly the columns of the
// schema, in its order.
type CSV struct {
	Comma       rune     // separator; 0 for a comma
	Comment     rune     // lines that begin with it are skipped; 0 for none
	Header      bool     // the first line holds column names; Read skips them
	LabelColumn int      // Read and Write: column of the class name, counted from 1; 0 for the last
	Names       []string // tables: the names of the file's columns, instead of those in the header
	Missing     []string // tables: texts of a missing value, the first of which is written; nil for "" and "?"
}

// Read reads dense records, one a line, plain or gzip-compressed. A class that
// is none of the schema's is what the schema says unknown labels become.
//
// Errors: [ErrFormat], naming line and column, where a line has another number
// of columns or something is not a number; *[param.Error] for a schema that does
// not fit.
func (c CSV) Read(r io.Reader, s Schema) (*Table, error) {
	if err := c.validate(s); err != nil {
		return nil, err
	}
	br, err := plain(r)
	if err != nil {
		return nil, err
	}
	lines := csv.NewReader(br)
	lines.ReuseRecord = true
	lines.TrimLeadingSpace = true
	lines.FieldsPerRecord = c.columns(s)
	lines.Comment = c.Comment
	if c.Comma != 0 {
		lines.Comma = c.Comma
	}
	rows := csvRows{layout: c, schema: s, class: classIndex(s)}
	for first := true; ; first = false {
		fields, err := lines.Read()
		if err == io.EOF {
			return FromFlat(s, rows.flat, rows.labels...)
		}
		if err != nil {
			return nil, csvError(err)
		}
		if first && c.Header {
			continue
		}
		if err := rows.add(fields, lines); err != nil {
			return nil, err
		}
	}
}

// Open is [CSV.Read] on a file.
func (c CSV) Open(path string, s Schema) (*Table, error) {
	return withFile(path, func(r io.Reader) (*Table, error) { return c.Read(r, s) })
}

func (c CSV) validate(s Schema) error {
	err := s.Validate()
	if s.Sparse() {
		err = errors.Join(err, param.New("records.Schema.Kind", s.kind, "a dense kind: sets are read by ReadTransactions"))
	}
	if c.LabelColumn < 0 || c.LabelColumn > c.columns(s) || c.LabelColumn > 0 && s.Classes() == 0 {
		err = errors.Join(err, param.New("records.CSV.LabelColumn", c.LabelColumn, "a column of the file, and a schema with classes"))
	}
	if s.kind == MixedTable {
		err = errors.Join(err, param.New("records.Schema.Kind", s.kind, "vectors or images: tables are read by ReadFrame"))
	}
	return errors.Join(err, c.validateCharacters())
}

// validateCharacters wants a comma and a comment that a file can have.
func (c CSV) validateCharacters() error {
	var errs []error
	for _, r := range []struct {
		field string
		value rune
	}{{"Comma", c.Comma}, {"Comment", c.Comment}} {
		if bad := r.value; bad == '"' || bad == '\r' || bad == '\n' || bad == utf8.RuneError || !utf8.ValidRune(bad) {
			errs = append(errs, param.New("records.CSV."+r.field, fmt.Sprintf("%q", bad), "a character that is no quote and no line end"))
		}
	}
	if c.Comment != 0 && (c.Comment == c.Comma || c.Comma == 0 && c.Comment == ',') {
		errs = append(errs, param.New("records.CSV.Comment", fmt.Sprintf("%q", c.Comment), "another character than the separator"))
	}
	return errors.Join(errs...)
}

func (c CSV) columns(s Schema) int {
	if s.Classes() > 0 {
		return s.dim + 1
	}
	return s.dim
}

// label is the column of the class, counted from 0, or -1.
func (c CSV) label(s Schema) int {
	if s.Classes() == 0 {
		return -1
	}
	if c.LabelColumn == 0 {
		return s.dim
	}
	return c.LabelColumn - 1
}

func classIndex(s Schema) map[string]int32 {
	index := make(map[string]int32, s.Classes())
	for i, name := range s.classes {
		index[name] = int32(i)
	}
	return index
}

type csvRows struct {
	layout CSV
	schema Schema
	class  map[string]int32
	flat   []float32
	labels []int32
}

func (c *csvRows) add(fields []string, at *csv.Reader) error {
	label := c.layout.label(c.schema)
	for j, field := range fields {
		field = strings.TrimSpace(field)
		if j == label {
			l, known := c.class[field]
			if !known {
				l = -1
			}
			c.labels = append(c.labels, l)
			continue
		}
		v, err := strconv.ParseFloat(field, 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			line, _ := at.FieldPos(j)
			return malformed("line %d, column %d is not a number", line, j+1)
		}
		c.flat = append(c.flat, float32(v))
	}
	return nil
}

// csvError keeps the place of a parse error; its text may quote the file.
func csvError(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return truncated("the csv file", err)
	}
	if errors.Is(err, csv.ErrFieldCount) {
		return malformed("line %d does not have the schema's number of columns", parse.Line)
	}
	return malformed("line %d, column %d: wrong quotes", parse.Line, parse.Column)
}

// Write writes the encoded records, one a line, so that Read gives them back.
func (c CSV) Write(w io.Writer, t *Table) error {
	if err := c.validate(t.schema); err != nil {
		return err
	}
	lines := csv.NewWriter(w)
	if c.Comma != 0 {
		lines.Comma = c.Comma
	}
	var fields []string
	if c.Header {
		lines.Write(c.header(t.schema))
	}
	var row []float32
	for i := range t.n {
		row = t.Row(row, i)
		fields = fields[:0]
		for _, v := range row {
			fields = append(fields, strconv.FormatFloat(float64(v), 'g', -1, 32))
		}
		if label := c.label(t.schema); label >= 0 {
			fields = slices.Insert(fields, label, t.schema.ClassName(t.Label(i)))
		}
		lines.Write(fields)
	}
	lines.Flush()
	if err := lines.Error(); err != nil {
		return fmt.Errorf("records: writing: %w", err)
	}
	return nil
}

func (c CSV) header(s Schema) []string {
	var names []string
	for j := range s.dim {
		names = append(names, fmt.Sprintf("x%d", j+1))
	}
	if label := c.label(s); label >= 0 {
		names = slices.Insert(names, label, "class")
	}
	return names
}
