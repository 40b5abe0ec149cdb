package records

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Value returns the text of one cell, inside the schema: a number, a moment, a length of time in
// seconds, the name of a level, or an identifier. It is "" for a missing value in a column that
// allows missing values.
func (f *Frame) Value(row, column int) string {
	text, _ := f.appendText(nil, row, column)
	return string(text)
}

// appendText appends the text of one cell, or reports that its value is missing.
func (f *Frame) appendText(dst []byte, row, column int) (text []byte, missing bool) {
	c := &f.schema.table.columns[column]
	if code := &f.schema.table.cells[column]; code.tick != nil || c.kind.isIdentifier() {
		k := code.tickOf(f.cells[column].ticks[row])
		switch {
		case k == missingTick:
			return dst, true
		case c.kind.isIdentifier():
			return c.rule.append(dst, k), false
		}
		return code.tick.append(dst, k), false
	}
	if !c.kind.hasLevels() {
		v := f.Number(row, column)
		if v != v {
			return dst, true
		}
		return appendNumber(dst, v), false
	}
	l := f.Level(row, column)
	if l < 0 {
		return dst, true
	}
	return append(dst, c.levels[l]...), false
}

// appendNumber appends the shortest text of a number. For up to 15 digits, of which at most 8 are
// decimals, it finds them by rounding: at most one such decimal is read as a given number.
func appendNumber(dst []byte, v float64) []byte {
	a := math.Abs(v)
	for _, places := range [...]int{0, 3, 8} {
		scaled := a * tensOf[places]
		if !(scaled < 1e15) || a < 1e-5 && a != 0 {
			break
		}
		if whole := uint64(scaled + 0.5); float64(whole)/tensOf[places] == a {
			if math.Signbit(v) {
				dst = append(dst, '-')
			}
			return appendDecimal(dst, whole, places)
		}
	}
	format := byte('f')
	if a != 0 && (a < 1e-5 || a >= 1e16) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, v, format, -1, 64)
}

// appendDecimal appends whole / 10^places without zeros at the end.
func appendDecimal(dst []byte, whole uint64, places int) []byte {
	for ; places > 0 && whole%10 == 0; places-- {
		whole /= 10
	}
	if places == 0 {
		return strconv.AppendUint(dst, whole, 10)
	}
	power := uint64(tensOf[places])
	dst = append(strconv.AppendUint(dst, whole/power, 10), '.')
	for rest := whole % power; places > 0; places-- {
		power /= 10
		dst = append(dst, byte('0'+rest/power%10))
	}
	return dst
}

// WriteFrame writes the records of a table, one per line, so that ReadFrame returns the same
// records. Fields are quoted as in RFC 4180, and lines end in a line feed. The columns are the
// columns in Names if it is set, and otherwise the columns of the schema. A column of Names that
// the schema does not have is left empty.
//
// Errors: the writer's; *[param.Error] if the layout does not fit, or if a missing value would be
// read back as a level.
func (c CSV) WriteFrame(w io.Writer, f *Frame) error {
	if f == nil {
		return given("records.CSV.WriteFrame", nil)
	}
	return c.WriteFrames(w, f.schema, func(yield func(Data, error) bool) { yield(f, nil) })
}

// WriteFrames is [CSV.WriteFrame] for records that arrive in parts, for example from a generator.
// Its memory does not grow with the number of records. It stops at the first error of the parts.
func (c CSV) WriteFrames(w io.Writer, s Schema, parts iter.Seq2[Data, error]) error {
	out, err := c.frameWriter(w, s)
	if err != nil {
		return err
	}
	if c.Header {
		out.header()
	}
	if err := writeFrames(out.w, "records.CSV.WriteFrames", s, parts,
		func(_ io.Writer, f *Frame, row int) { out.row(f, row) }); err != nil {
		return err
	}
	return nil
}

// frameWriter writes the rows of a table to a file. Its buffer keeps the first error until it is
// flushed.
type frameWriter struct {
	w       *bufio.Writer
	names   []string
	columns []int    // the column of each field, or -1
	missing []string // the text of a missing value in each column
	comma   rune
	comment rune
	// of each field: its levels and then a missing value as they are written; nil if it has none
	levels [][]string
	plain  []bool // fields of numbers that need no quotes
	line   []byte
	spare  []byte
}

func (c CSV) frameWriter(w io.Writer, s Schema) (*frameWriter, error) {
	if err := c.validateFrames(s); err != nil {
		return nil, err
	}
	out := &frameWriter{w: bufio.NewWriterSize(w, 1<<16), names: c.Names, comma: ',',
		comment: c.Comment}
	if c.Comma != 0 {
		out.comma = c.Comma
	}
	for _, column := range s.table.columns {
		text, err := c.missingText(column)
		if err != nil {
			return nil, err
		}
		out.missing = append(out.missing, text)
		if c.Names == nil {
			out.names = append(out.names, column.name)
		} else if !slices.Contains(c.Names, column.name) {
			return nil, param.New("records.CSV.Names", c.Names,
				fmt.Sprintf("the names of all columns of the schema: %q is missing", column.name))
		}
	}
	for k, name := range out.names {
		j := s.ColumnIndex(name)
		out.columns = append(out.columns, j)
		var levels []string
		if j >= 0 && s.table.columns[j].kind.hasLevels() {
			for _, text := range append(slices.Clip(s.table.columns[j].levels), out.missing[j]) {
				out.line = out.line[:0]
				start := out.begin(k)
				out.line = append(out.line, text...)
				out.quote(k, start)
				levels = append(levels, string(out.line))
			}
		}
		out.levels = append(out.levels, levels)
		out.plain = append(out.plain, j >= 0 && s.table.columns[j].kind.isNumber() &&
			s.table.cells[j].tick == nil && s.table.cells[j].form == nil &&
			!strings.ContainsAny(string([]rune{out.comma, c.Comment}), "+-.e"+figures))
	}
	return out, nil
}

// missingText returns the first text of a missing value that is not a level of the column.
func (c CSV) missingText(column Column) (string, error) {
	if !column.missing {
		return "", nil
	}
	for _, a := range column.aliases { // ordered by text
		if a.level == "" {
			return a.text, nil
		}
	}
	levels := column.codes()
	for _, text := range c.MissingTexts() {
		if _, level := levels[text]; !level {
			return text, nil
		}
	}
	return "", param.New("records.CSV.Missing", c.MissingTexts(),
		fmt.Sprintf("a text that is not a level of column %q", column.name))
}

func (o *frameWriter) header() {
	o.line = o.line[:0]
	for k, name := range o.names {
		start := o.begin(k)
		o.line = append(o.line, name...)
		o.quote(k, start)
	}
	o.w.Write(append(o.line, '\n'))
}

func (o *frameWriter) row(f *Frame, i int) {
	o.line = o.line[:0]
	for k, j := range o.columns {
		if levels := o.levels[k]; levels != nil {
			l := f.schema.table.cells[j].level(f.cells[j].levels[i])
			o.line = append(o.line, levels[min(int(l), len(levels)-1)]...)
			continue
		}
		start := o.begin(k)
		if o.plain[k] {
			if v := f.schema.table.cells[j].number(f.cells[j].numbers[i]); v == v {
				o.line = appendNumber(o.line, v)
				continue
			}
		}
		if j >= 0 {
			o.value(f, i, j)
		}
		o.quote(k, start)
	}
	o.w.Write(append(o.line, '\n'))
}

// value writes a number or a missing value of column j.
func (o *frameWriter) value(f *Frame, i, j int) {
	start, missing := len(o.line), false
	if o.line, missing = f.appendText(o.line, i, j); missing {
		o.line = append(o.line, o.missing[j]...)
	} else if form := f.schema.table.cells[j].form; form != nil {
		o.spare = append(o.spare[:0], o.line[start:]...)
		o.line = form.spell(o.line[:start], o.spare)
	}
}

// begin separates field k from the one before. It returns where the field starts in the line.
func (o *frameWriter) begin(k int) int {
	if k > 0 {
		o.line = utf8.AppendRune(o.line, o.comma)
	}
	return len(o.line)
}

// quote adds quotes to the text of field k, which begins at start, if it needs them.
func (o *frameWriter) quote(k, start int) {
	if o.quoted(k, o.line[start:]) {
		text := bytes.ReplaceAll(o.line[start:], []byte(`"`), []byte(`""`))
		o.line = append(append(append(o.line[:start], '"'), text...), '"')
	}
}

// quoted reports whether a field would be read differently without quotes: as two fields, as a
// comment or a byte order mark, or, alone on its line, as a blank line.
func (o *frameWriter) quoted(k int, text []byte) bool {
	if len(text) == 0 {
		return len(o.names) == 1
	}
	first, _ := utf8.DecodeRune(text)
	if unicode.IsSpace(first) || k == 0 && (first == o.comment || first == '\ufeff') {
		return true
	}
	if o.comma >= utf8.RuneSelf {
		return bytes.ContainsAny(text, "\"\r\n"+string(o.comma))
	}
	for _, b := range text {
		if b == '"' || b == '\r' || b == '\n' || b == byte(o.comma) {
			return true
		}
	}
	return false
}

// text returns the text of a cell that is not a plain number.
func (f *Frame) text(row, column int) (text string, missing bool) {
	c := &f.schema.table.columns[column]
	if c.kind.hasLevels() {
		if l := f.Level(row, column); l >= 0 {
			return c.levels[l], false
		}
		return "", true
	}
	raw, missing := f.appendText(nil, row, column)
	return string(raw), missing
}
