package records

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Each record, or row of a person, is one line of text. Lines are separated before anything else is
// parsed. So the quotes, the separators and the length of one line do not affect other lines.

// textLines reads an input line by line.
type textLines struct {
	in   *input
	most int    // largest number of bytes of a line
	n    int    // lines so far
	long []byte // buffer for a line that exceeds the reader's own buffer
}

// next returns the next line without its end, valid until the next call, or io.EOF after the last.
// If a line is too long, it returns the beginning, and fits is false.
func (l *textLines) next() (line []byte, fits bool, err error) {
	l.n++
	piece, err := l.in.ReadSlice('\n')
	if err == io.EOF && len(piece) == 0 {
		return nil, false, io.EOF
	}
	if err == bufio.ErrBufferFull {
		piece, fits, err = l.rest(piece)
	} else {
		piece, fits = withoutEnd(piece), true
	}
	if err != nil && err != io.EOF {
		return nil, false, truncated(fmt.Sprintf("line %d", l.n), err)
	}
	if len(piece) > l.most {
		piece, fits = piece[:l.most], false
	}
	return piece, fits, nil
}

// rest reads the remainder of a line after a piece that fills the reader's buffer, and keeps no
// more than the limit.
func (l *textLines) rest(piece []byte) (line []byte, fits bool, err error) {
	l.long, fits, err = l.long[:0], true, bufio.ErrBufferFull
	for {
		if room := l.most + len("\r\n") - len(l.long); len(piece) > room {
			piece, fits = piece[:room], false
		}
		if len(l.long)+len(piece) > cap(l.long) {
			l.long = append(make([]byte, 0, 2*cap(l.long)+len(piece)), l.long...)
		}
		l.long = append(l.long, piece...)
		if err != bufio.ErrBufferFull {
			break
		}
		piece, err = l.in.ReadSlice('\n')
	}
	if !fits {
		return l.long, false, err
	}
	return withoutEnd(l.long), true, err
}

// withoutEnd removes a line feed, and a carriage return before it or before the end of the input.
func withoutEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// lineFault says why a line is not read as fields.
type lineFault int

const (
	readable  lineFault = iota
	tooLong             // the line has too many bytes
	tooMany             // the line has too many fields
	badQuotes           // a quoted field does not end on its line, or other text follows it
	wrongSize           // the number of fields is not the file's number of columns
)

// fieldSplitter cuts a line into fields as RFC 4180 does, except that a quoted field ends on its
// line. A quote that is not closed is an ordinary character.
type fieldSplitter struct {
	comma   []byte
	comment []byte
	trim    bool // blanks before a field, and after a quoted one
}

func newFieldSplitter(comma, comment rune) fieldSplitter {
	comma = cmp.Or(comma, ',')
	s := fieldSplitter{comma: []byte(string(comma)), trim: !unicode.IsSpace(comma)}
	if comment != 0 {
		s.comment = []byte(string(comment))
	}
	return s
}

// split appends the fields of a line to dst, up to the limit most. They share the line's storage.
func (s *fieldSplitter) split(dst [][]byte, line []byte, most int) ([][]byte, lineFault) {
	if len(s.comma) == 1 && bytes.IndexByte(line, '"') < 0 {
		return plainFields(dst, line, s.comma[0], most)
	}
	fault := readable
	for {
		if len(dst) == most {
			return dst, tooMany
		}
		field, after, more, closed := s.field(line)
		if !closed {
			fault = badQuotes
		}
		dst = append(dst, field)
		if !more {
			return dst, fault
		}
		line = after
	}
}

// plainFields is split for a line without quotes. It compares eight bytes at a time with the
// separator.
func plainFields(dst [][]byte, line []byte, comma byte, most int) ([][]byte, lineFault) {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	start := 0
	for i := 0; i < len(line); i += 8 {
		var word uint64
		if i+8 <= len(line) {
			word = binary.LittleEndian.Uint64(line[i:])
		} else {
			var last [8]byte // zeros are no separators
			copy(last[:], line[i:])
			word = binary.LittleEndian.Uint64(last[:])
		}
		word ^= uint64(comma) * ones
		// the highest bit of each byte that is 0
		for at := ^(word&low + low | word | low); at != 0; at &= at - 1 {
			if len(dst) == most {
				return dst, tooMany
			}
			end := i + bits.TrailingZeros64(at)/8
			dst = append(dst, line[start:end])
			start = end + 1
		}
	}
	if len(dst) == most {
		return dst, tooMany
	}
	return append(dst, line[start:]), readable
}

// field returns the first field of a line and the rest; more reports whether a separator followed
// the field.
func (s *fieldSplitter) field(line []byte) (field, after []byte, more, closed bool) {
	closed = true
	if start := s.trimmed(line); len(start) > 0 && start[0] == '"' {
		if field, after, more, closed = s.quoted(start[1:]); closed {
			return field, after, more, true
		}
	}
	field, after, more = bytes.Cut(line, s.comma)
	return field, after, more, closed
}

// quoted reads a field up to the quote that closes it.
func (s *fieldSplitter) quoted(body []byte) (field, after []byte, more, closed bool) {
	at, doubled := 0, false
	for {
		next := bytes.IndexByte(body[at:], '"')
		if next < 0 {
			return nil, nil, false, false
		}
		if at += next; at+1 == len(body) || body[at+1] != '"' {
			break
		}
		at, doubled = at+2, true
	}
	field, after = body[:at], s.trimmed(body[at+1:])
	if len(after) == 0 {
		more, closed = false, true
	} else {
		after, closed = bytes.CutPrefix(after, s.comma)
		more = closed
	}
	if closed && doubled {
		field = bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
	}
	return field, after, more, closed
}

func (s *fieldSplitter) trimmed(text []byte) []byte {
	if !s.trim || len(text) == 0 || text[0] > ' ' && text[0] < utf8.RuneSelf {
		return text
	}
	return bytes.TrimLeftFunc(text, unicode.IsSpace)
}

// trimmed is bytes.TrimSpace, faster for a text that it leaves as it is.
func trimmed(text []byte) []byte {
	if n := len(text); n > 0 && text[0] > ' ' && text[0] < utf8.RuneSelf && text[n-1] > ' ' &&
		text[n-1] < utf8.RuneSelf {
		return text
	}
	return bytes.TrimSpace(text)
}

// csvLines reads lines as fields.
type csvLines struct {
	textLines
	splitter fieldSplitter
	fields   [][]byte
}

// newCSVLines returns a reader of lines that skips a byte order mark. The limit on the length of a
// line depends on columns, the number of columns of a record.
func newCSVLines(in *input, comma, comment rune, columns int) *csvLines {
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		in.Discard(3)
	}
	most := in.limits.lineBytes(min(columns, maxDim) * 32)
	return &csvLines{textLines: textLines{in: in, most: most},
		splitter: newFieldSplitter(comma, comment)}
}

// next returns the fields of the next line that is neither blank nor a comment, valid until the
// next call; io.EOF follows the last. A line whose number of fields is not want has a fault. If
// want is negative, any number of fields up to most is allowed.
func (c *csvLines) next(want, most int) (fields [][]byte, fault lineFault, err error) {
	for {
		line, fits, err := c.textLines.next()
		if err != nil {
			return nil, readable, err
		}
		if c.skipped(line, want) {
			continue
		}
		c.fields, fault = c.splitter.split(c.fields[:0], line, most)
		switch {
		case !fits:
			fault = tooLong
		case fault == readable && want >= 0 && len(c.fields) != want:
			fault = wrongSize
		}
		return c.fields, fault, nil
	}
}

// skipped reports whether a line holds no record: a comment, an empty line, or a line of blanks if
// a record has several columns.
func (c *csvLines) skipped(line []byte, want int) bool {
	s := &c.splitter
	if len(line) == 0 || len(s.comment) > 0 && bytes.HasPrefix(line, s.comment) {
		return true
	}
	return want != 1 && len(bytes.TrimSpace(line)) == 0 && !bytes.Contains(line, s.comma)
}

// header returns the fields of the first line. The header is public, so mistakes in it are errors.
func (c *csvLines) header(columns int) ([]string, error) {
	fields, fault, err := c.next(-1, c.in.limits.fields(columns))
	if err == io.EOF {
		return nil, malformed("the csv file has no header")
	}
	if err != nil {
		return nil, err
	}
	switch fault {
	case tooLong:
		return nil, &LimitError{"LineBytes", "the header is too long"}
	case tooMany:
		return nil, &LimitError{"Fields", "the header has too many fields"}
	case badQuotes:
		return nil, malformed("the header has wrong quotes")
	}
	names := make([]string, len(fields))
	for i, text := range fields {
		names[i] = string(bytes.TrimSpace(text))
	}
	return names, nil
}
