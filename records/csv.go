package records

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/internal/param"
)

// CSV describes the layout of a file of comma-separated values.
//
// A line is a record. Fields are quoted as in RFC 4180, except that a quoted field ends on its
// line. So the content of one record never changes how another record is read. Remove line breaks
// from texts before writing a file. A line that cannot be read, because of its quotes, its number
// of fields or its length ([Limits]), becomes a record of unknown values. The schema treats each of
// these values as a text that is not a number, or not a level. [Check] reports such a line.
//
// [CSV.Read] and [CSV.Write] are for vectors and images. For these methods the zero value describes
// a file of numbers without a header. If the schema has classes, the last column is the class name.
//
// [CSV.ReadFrame], [CSV.Stream] and [CSV.WriteFrame] are for tables. If a header or Names names the
// columns, the columns of the schema are found by name, in any order, and other columns are
// ignored. Otherwise a line holds exactly the columns of the schema, in the schema's order.
type CSV struct {
	Comma   rune     // separator; 0 for a comma
	Comment rune     // lines that begin with it are skipped; 0 for none
	Header  bool     // the first line holds column names; Read skips it
	Names   []string // tables: the names of the file's columns, instead of those in the header
	// tables: texts that mean a missing value; the first is written; nil for "" and "?"
	Missing []string
	// FirstRecord says that the first line is a record, whatever it holds. Without FirstRecord and
	// without Header, a first line that looks like a header is an error. A line looks like a header if
	// it has a word in each column of numbers, none of the levels in any other column, and correct
	// quotes. This is the only error that depends on a record. It is meant for the owner of the file.
	// It depends on the first line only, is returned before any record is kept, and reveals nothing
	// else about that line. Set FirstRecord if even this must not be revealed.
	FirstRecord bool
	// Strays, if not nil, is called for each cell of a table that holds a value its column does not
	// allow, with the column's number, what is wrong (see [Frame.Problem]) and the text. Neither is
	// private: Strays is meant for a check by the owner of the file.
	Strays func(column int, problem, text string)
	Limits Limits // bounds on the cost of reading
}

// Read reads dense records, one per line, plain or gzip-compressed. A class outside the schema
// becomes the schema's class for unknown labels. A text that is not a number becomes the lower
// bound.
//
// Errors: [ErrFormat] for a header with a wrong number of columns, a first line that looks like a
// header if none is declared, or damaged compression; *[LimitError]; *[param.Error] for a schema
// that does not fit.
func (c CSV) Read(r io.Reader, s Schema) (*Table, error) {
	if err := c.validate(s); err != nil {
		return nil, err
	}
	in, err := openInput(r, c.Limits)
	if err != nil {
		return nil, err
	}
	columns := c.columns(s)
	lines := newCSVLines(in, c.Comma, c.Comment, columns)
	if c.Header {
		if err := skipHeader(lines, columns); err != nil {
			return nil, err
		}
	}
	rows := csvRows{dim: s.dim, class: classIndex(s)}
	for first := !c.Header && !c.FirstRecord; ; first = false {
		fields, fault, err := lines.next(columns, columns)
		if err == io.EOF {
			return FromFlat(s, rows.flat, rows.labels...)
		}
		if err == nil && first && fault == readable && rows.named(fields) {
			err = undeclaredHeader()
		}
		if err == nil {
			err = in.spend(columns)
		}
		if err != nil {
			return nil, err
		}
		rows.add(fields, fault)
	}
}

// skipHeader skips the line of names. A file without any line has no records.
func skipHeader(lines *csvLines, columns int) error {
	if _, err := lines.in.Peek(1); err == io.EOF {
		return nil
	}
	names, err := lines.header(columns)
	if err != nil {
		return err
	}
	if len(names) != columns {
		return malformed("the header has %d columns: want %d, as the schema says", len(names), columns)
	}
	return nil
}

// Open is [CSV.Read] on a file.
//
// Errors: see [CSV.Read]; also errors of the file system.
func (c CSV) Open(path string, s Schema) (*Table, error) {
	return withFile(path, func(r io.Reader) (*Table, error) { return c.Read(r, s) })
}

func (c CSV) validate(s Schema) error {
	err := s.Validate()
	if s.Sparse() {
		err = errors.Join(err,
			param.New("records.Schema.Kind", s.kind, "vectors or images; sets are read by ReadTransactions"))
	}
	if s.kind == MixedTable {
		err = errors.Join(err,
			param.New("records.Schema.Kind", s.kind, "vectors or images; tables are read by ReadFrame"))
	}
	return errors.Join(err, c.validateCharacters())
}

// validateCharacters checks Comma and Comment: they must be valid, differ, and be neither quotes
// nor line ends.
func (c CSV) validateCharacters() error {
	errs := []error{c.Limits.Validate()}
	for _, r := range []struct {
		field string
		value rune
	}{{"Comma", c.Comma}, {"Comment", c.Comment}} {
		if bad := r.value; bad == '"' || bad == '\r' || bad == '\n' || bad == utf8.RuneError ||
			!utf8.ValidRune(bad) {
			errs = append(errs,
				param.New("records.CSV."+r.field, fmt.Sprintf("%q", bad),
					"a character other than a quote or a line end"))
		}
	}
	if c.Comment != 0 && (c.Comment == c.Comma || c.Comma == 0 && c.Comment == ',') {
		errs = append(errs,
			param.New("records.CSV.Comment", fmt.Sprintf("%q", c.Comment),
				"a character other than the separator"))
	}
	return errors.Join(errs...)
}

func (c CSV) columns(s Schema) int {
	if s.Classes() > 0 {
		return s.dim + 1
	}
	return s.dim
}

func classIndex(s Schema) map[string]int32 {
	index := make(map[string]int32, s.Classes())
	for i, name := range s.classes {
		index[name] = int32(i)
	}
	return index
}

// csvRows collects dense records. The class, if there are classes, comes last.
type csvRows struct {
	dim    int
	class  map[string]int32
	flat   []float32
	labels []int32
}

// add appends one record. If its line has a fault, its values are unknown.
func (c *csvRows) add(fields [][]byte, fault lineFault) {
	if fault != readable {
		for range c.dim {
			c.flat = push(c.flat, float32(math.NaN()))
		}
		if len(c.class) > 0 {
			c.labels = push(c.labels, -1)
		}
		return
	}
	for j, field := range fields {
		field = trimmed(field)
		if j == c.dim {
			c.labels = push(c.labels, c.classOf(field))
			continue
		}
		c.flat = push(c.flat, number32(field))
	}
}

func (c *csvRows) classOf(text []byte) int32 {
	if l, known := c.class[string(text)]; known {
		return l
	}
	return -1
}

// named reports whether a line looks like column names rather than a record.
func (c *csvRows) named(fields [][]byte) bool {
	for j, field := range fields {
		field = bytes.TrimSpace(field)
		if j == c.dim {
			if c.classOf(field) >= 0 {
				return false
			}
		} else if !param.IsHeading(string(field)) {
			return false
		}
	}
	return true
}

// ErrHeader is returned if the first line of a file contradicts the layout, or if it is not clear
// whether that line has names of columns or a record. It wraps [ErrFormat].
var ErrHeader = malformed("the first line")

// undeclaredHeader returns the error for names of columns that are not declared.
func undeclaredHeader() error {
	return fmt.Errorf("%w looks like a header: set CSV.Header, or CSV.FirstRecord if it is a record",
		ErrHeader)
}

// Write writes the encoded records, one per line, so that Read returns the same records.
//
// Errors: *[param.Error] for a layout or class names that cannot be written; the writer's.
func (c CSV) Write(w io.Writer, t *Table) error {
	if err := errors.Join(c.validate(t.schema), t.schema.writableClasses()); err != nil {
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
		if t.schema.Classes() > 0 {
			fields = append(fields, t.schema.ClassName(t.Label(i)))
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
	if s.Classes() > 0 {
		names = append(names, "class")
	}
	return names
}

// writableClasses checks that class names are unchanged by writing and reading a line.
func (s Schema) writableClasses() error {
	for i, name := range s.classes {
		if !plainText(name) {
			path := fmt.Sprintf("records.Schema.Classes[%d]", i)
			return param.New(path, fmt.Sprintf("%.40q", name),
				"a name without control characters or surrounding blanks")
		}
	}
	return nil
}
