package records

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONLines reads and writes tables as lines of JSON (https://jsonlines.org): each line is a
// record, an object whose keys are names of columns.
//
// Numbers are JSON numbers. Lengths of time are JSON numbers too, in seconds. Levels, moments and
// identifiers are strings, and a missing value is null. Readers accept more. An absent key is a
// missing value. A column of numbers accepts strings that spell numbers. A column of levels accepts
// numbers, and a column of two levels accepts false and true. Keys that name no column are ignored.
//
// A line that is not an object, is too long, has too many keys or names a column twice becomes a
// record of unknown values. The schema treats each of these values as a text that is not a number,
// or not a level. [Check] reports such a line. Lines are separated before they are parsed. So the
// content of one record never changes how another record is read.
type JSONLines struct {
	Limits Limits
}

// ReadFrame reads records of a table, plain or gzip-compressed. Blank lines are skipped.
//
// Errors: [ErrFormat] for damaged compression; *[LimitError]; *[param.Error] for a schema that is
// not of tables.
func (j JSONLines) ReadFrame(r io.Reader, s Schema) (*Frame, error) {
	in, err := j.reader(r, s)
	if err != nil {
		return nil, err
	}
	return readFrame(in)
}

// jsonReader reads records from a file of objects.
type jsonReader struct {
	lines   textLines
	rows    *FrameBuilder
	columns map[string]int
	values  [][]byte // of the columns in the current line; nil if absent
	keys    int      // the largest number of keys in a line
}

func (j JSONLines) reader(r io.Reader, s Schema) (*jsonReader, error) {
	rows, err := NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	source, err := openInput(r, j.Limits)
	if err != nil {
		return nil, err
	}
	if mark, _ := source.Peek(3); string(mark) == "\ufeff" {
		source.Discard(3)
	}
	columns := s.table.columns
	in := &jsonReader{rows: rows, columns: make(map[string]int, len(columns)),
		values: make([][]byte, len(columns)), keys: j.Limits.fields(len(columns))}
	record := 2
	for i, c := range columns {
		in.columns[c.name] = i
		record += len(c.name) + 32
	}
	in.lines = textLines{in: source, most: j.Limits.lineBytes(record)}
	return in, nil
}

func (in *jsonReader) builder() *FrameBuilder { return in.rows }

func (in *jsonReader) read(n int) error {
	for in.rows.Len() < n {
		line, fits, err := in.lines.next()
		if err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := in.lines.in.spend(len(in.values)); err != nil {
			return err
		}
		known := fits && in.object(line)
		for j := range in.values {
			if known {
				in.rows.appendJSON(j, in.values[j])
			} else {
				in.rows.appendUnknown(j)
			}
		}
		in.rows.n++
	}
	return nil
}

// object finds the values of the columns in a line, and reports whether the line is an object that
// names no column twice.
func (in *jsonReader) object(line []byte) bool {
	clear(in.values)
	if line[0] != '{' || !validJSON(line) {
		return false
	}
	keys := 0
	for at := skipBlank(line, 1); line[at] != '}'; {
		end := valueEnd(line, at)
		key := line[at:end]
		at = skipBlank(line, skipBlank(line, end)+len(":"))
		end = valueEnd(line, at)
		if j, found := in.columns[unquoted(key)]; found {
			if in.values[j] != nil {
				return false
			}
			in.values[j] = line[at:end]
		}
		if keys++; keys > in.keys {
			return false
		}
		if at = skipBlank(line, end); line[at] == ',' {
			at = skipBlank(line, at+1)
		}
	}
	return true
}

// The following functions walk through a text that is valid JSON.

func skipBlank(text []byte, at int) int {
	for at >= 0 && at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// valueEnd returns the end of the value that begins at the given index.
func valueEnd(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			at = stringEnd(text, at)
		case '[', '{':
			depth++
			at++
		case ']', '}':
			depth--
			at++
		default:
			if depth > 0 {
				at++
				continue
			}
			return at + scalarLength(text[at:])
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// scalarLength returns the length of the number or word that a text begins with.
func scalarLength(text []byte) int {
	if n := bytes.IndexAny(text, ",}] \t\r"); n >= 0 {
		return n
	}
	return len(text)
}

func stringEnd(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// unquoted returns the text of a JSON string.
func unquoted(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	return unescaped(quoted[1 : len(quoted)-1])
}

// unescaped returns a text with its escapes replaced, as package json does it: half a surrogate
// pair and invalid UTF-8 become U+FFFD. Calling that package would take ten times the memory.
func unescaped(text []byte) string {
	var b strings.Builder
	b.Grow(len(text))
	for len(text) > 0 {
		if text[0] != '\\' {
			r, n := utf8.DecodeRune(text)
			b.WriteRune(r)
			text = text[n:]
			continue
		}
		if c := text[1]; c != 'u' {
			if at := strings.IndexByte("bfnrt", c); at >= 0 {
				c = "\b\f\n\r\t"[at]
			}
			b.WriteByte(c)
			text = text[2:]
			continue
		}
		r := hexRune(text)
		text = text[6:]
		if pair := utf16.DecodeRune(r, hexRune(text)); pair != utf8.RuneError {
			r, text = pair, text[6:]
		}
		b.WriteRune(r) // U+FFFD for half a surrogate pair
	}
	return b.String()
}

// hexRune returns the number of an escape of the form \uABCD that a text begins with, or -1.
func hexRune(text []byte) (r rune) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	for _, c := range text[2:6] {
		if r <<= 4; c <= '9' {
			r += rune(c - '0')
		} else {
			r += rune(c|0x20-'a') + 10
		}
	}
	return r
}

// appendJSON adds one cell, given as JSON; nil is an absent value.
func (b *FrameBuilder) appendJSON(j int, value []byte) {
	switch {
	case value == nil, string(value) == "null":
		b.appendMissing(j)
	case value[0] == '"':
		b.appendText(j, strings.TrimSpace(unquoted(value)))
	case string(value) == "true", string(value) == "false":
		b.appendBool(j, value[0] == 't')
	case value[0] == '[', value[0] == '{':
		b.appendUnknown(j)
	default:
		b.appendDigits(j, string(value))
	}
}

// appendDigits adds a number. In a column of levels it becomes the level with the same text, or
// else the level whose name is the number's shortest decimal text.
func (b *FrameBuilder) appendDigits(j int, text string) {
	hashed, codes := b.schema.table.cells[j].kind.of().hashed, b.codes(j)
	if _, known := codes[text]; known || codes == nil ||
		hashed && digitsOnly(strings.TrimPrefix(text, "-")) { // a whole number keeps all digits
		b.appendText(j, text)
		return
	}
	v := parseNumber(text)
	if v != v {
		b.appendUnknown(j)
		return
	}
	var room [400]byte // the longest texts have 324 digits; this avoids an allocation
	spelled := strconv.AppendFloat(room[:0], v, 'f', -1, 64)
	if code, known := codes[string(spelled)]; known {
		b.appendCode(j, code)
	} else if hashed {
		b.appendText(j, string(spelled))
	} else {
		b.appendUnknown(j)
	}
}

// WriteFrame writes the records of a table, one per line, with the schema's columns in their order.
//
// Errors: the writer's; *[param.Error] for nil.
func (j JSONLines) WriteFrame(w io.Writer, f *Frame) error {
	if f == nil {
		return given("records.JSONLines.WriteFrame", nil)
	}
	return j.WriteFrames(w, f.Schema(), func(yield func(Data, error) bool) { yield(f, nil) })
}

// WriteFrames is [JSONLines.WriteFrame] for records that arrive in parts, for example from a
// generator. Its memory does not grow with the number of records. It stops at the first error of
// the parts.
func (j JSONLines) WriteFrames(w io.Writer, s Schema, parts iter.Seq2[Data, error]) error {
	if _, err := NewFrameBuilder(s); err != nil { // checks the schema
		return err
	}
	var line []byte
	return writeFrames(w, "records.JSONLines.WriteFrames", s, parts,
		func(to io.Writer, f *Frame, row int) {
			line = append(f.AppendJSON(line[:0], row), '\n')
			to.Write(line) // the buffer keeps the first error
		})
}

// AppendJSON appends one record as a JSON object, as [JSONLines] writes it: the keys are the names
// of the schema's columns, in their order.
func (f *Frame) AppendJSON(dst []byte, row int) []byte {
	for j := range f.schema.table.columns {
		c := &f.schema.table.columns[j]
		separator := byte(',')
		if j == 0 {
			separator = '{'
		}
		dst = append(appendQuoted(append(dst, separator), c.name), ':')
		if c.kind.of().quoted {
			if text, missing := f.text(row, j); missing {
				dst = append(dst, "null"...)
			} else {
				dst = appendQuoted(dst, text)
			}
			continue
		}
		var missing bool
		if dst, missing = f.appendText(dst, row, j); missing {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}')
}

// appendQuoted appends a text as a JSON string.
func appendQuoted(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, _ := json.Marshal(text) // a text can always be encoded
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}
