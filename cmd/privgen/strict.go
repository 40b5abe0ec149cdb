package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// fault is a mistake in the form of a file. It says where the mistake is, what was seen and what
// mends it. It never holds a value of a record.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }

func fileFault(format string, args ...any) error { return &fault{fmt.Sprintf(format, args...)} }

// What a fault recommends.
const (
	orLines = "or --lines, which reads each line by itself and a line that cannot be read as a " +
		"record of unknown values"
	notPublic = ". This refusal depends on the records: do not publish it"
)

// mostRecord bounds the bytes of a record, as package records bounds a line.
const mostRecord = 1 << 20

// mostNamed is how many lines of a wrong number of fields are named.
const mostNamed = 5

// strict reads a file of comma-separated values as RFC 4180 defines it, and passes each record on
// as one line. A line break within quotes becomes a blank, since no value of a schema holds one. A
// file that is not well-formed ends with a fault. So no quote swallows the records after it, and
// one record never changes how another is read.
//
// Unlike the RFC it allows blank lines, lines of comments, and blanks around a quoted field. A
// correct writer quotes every field with a quote in it, so these change no file of such a writer.
type strict struct {
	in      *bufio.Reader
	comma   []byte
	comment []byte
	trim    bool   // blanks around quoted fields
	want    int    // number of fields of a record; 0 until the first
	wanted  string // who wants it
	line    int    // lines read so far
	long    []byte // a line that is longer than the reader's buffer
	record  []byte // a record of several lines
	out     []byte // what is left of the last record
	ragged  []string
	more    int // ragged lines that are not named
	err     error
}

// newStrict returns a strict reader. If want is 0, the first record determines how many fields each
// record has.
func newStrict(in *bufio.Reader, comma, comment rune, want int) *strict {
	if comma == 0 {
		comma = ','
	}
	s := &strict{in: in, comma: []byte(string(comma)), want: want, wanted: "as the columns need",
		trim: comma != ' ' && comma != '\t'}
	if comment != 0 {
		s.comment = []byte(string(comment))
	}
	if want == 0 {
		s.wanted = "as the first line has"
	}
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		in.Discard(3) // at most what was peeked
	}
	return s
}

func (s *strict) Read(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if len(s.out) == 0 {
			if done > 0 && s.in.Buffered() == 0 {
				break // the reader has something to do while more is read
			}
			if s.err == nil {
				s.out, s.err = s.next()
			}
			if s.err != nil {
				break
			}
		}
		n := copy(p[done:], s.out)
		s.out = s.out[n:]
		done += n
	}
	if done == 0 && len(p) > 0 {
		return 0, s.err
	}
	return done, nil
}

// next returns the next record as one line with its end.
func (s *strict) next() ([]byte, error) {
	for {
		line, err := s.readLine()
		if err == io.EOF {
			return nil, s.end()
		}
		if err != nil {
			return nil, err
		}
		if s.skipped(line) {
			continue
		}
		begun, fields := s.line, 0
		s.record = s.record[:0]
		if bytes.IndexByte(line, '"') < 0 {
			fields, err = s.plain(line)
		} else {
			line, fields, err = s.quoted(line)
		}
		if err != nil {
			return nil, err
		}
		if s.want == 0 {
			s.want = fields
		}
		if fields != s.want {
			s.addRagged(begun, fields)
		}
		if s.ragged == nil {
			return line, nil
		}
	}
}

// end returns the error at the end of the file.
func (s *strict) end() error {
	if s.ragged == nil {
		return io.EOF
	}
	text := strings.Join(s.ragged, ", ")
	if s.more > 0 {
		text += fmt.Sprintf(" and %d more lines have another number", s.more)
	}
	return fileFault("%s: want %d on every line, %s: want texts with %q in quotes, the right --comma, %s%s",
		text, s.want, s.wanted, s.comma, orLines, notPublic)
}

func (s *strict) addRagged(line, fields int) {
	if len(s.ragged) == mostNamed {
		s.more++
		return
	}
	text := fmt.Sprintf("line %d has %d fields", line, fields)
	if fields == 1 {
		text = fmt.Sprintf("line %d has 1 field", line)
	}
	s.ragged = append(s.ragged, text)
}

// skipped reports whether a line holds no record, as package records does.
func (s *strict) skipped(line []byte) bool {
	if len(s.comment) > 0 && bytes.HasPrefix(line, s.comment) {
		return true
	}
	text := bytes.TrimRight(line, "\r\n")
	return len(text) == 0 || s.want != 1 && text[0] <= ' ' && len(bytes.TrimSpace(text)) == 0 &&
		!bytes.Contains(text, s.comma)
}

// readLine returns the next line with its end.
func (s *strict) readLine() ([]byte, error) {
	s.line++
	line, err := s.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		s.long = s.long[:0]
		for err == bufio.ErrBufferFull && len(s.long) <= s.most() {
			s.long = append(s.long, line...)
			line, err = s.in.ReadSlice('\n')
		}
		s.long = append(s.long, line...)
		line = s.long
	}
	if err == io.EOF && len(line) > 0 {
		err = nil // the last line may lack its end
	}
	switch {
	case len(line) > s.most(): // whatever err says of the buffer
		return nil, fileFault("line %d is longer than %d bytes: want line feeds between records, %s%s", s.line,
			s.most(), orLines, notPublic)
	case err != nil:
		return nil, err
	case !utf8.Valid(line):
		return nil, fileFault("line %d is not UTF-8: want --encoding latin-1, or utf-16, %s%s", s.line,
			orLines, notPublic)
	}
	return line, nil
}

func (s *strict) most() int { return max(mostRecord, 32*s.want) }

// plain returns the number of fields of a line without quotes.
func (s *strict) plain(line []byte) (int, error) {
	if err := s.returns(bytes.TrimRight(line, "\r\n")); err != nil {
		return 0, err
	}
	return bytes.Count(line, s.comma) + 1, nil
}

// returns fails if a text holds a carriage return: the file may have these between its lines.
func (s *strict) returns(text []byte) error {
	if bytes.IndexByte(text, '\r') < 0 {
		return nil
	}
	return fileFault("line %d has a carriage return outside quotes: want line feeds at the ends of "+
		"lines, and texts with line breaks in quotes, %s%s", s.line, orLines, notPublic)
}

// quoted returns a record that begins on a line with quotes as one line, and the number of its
// fields.
func (s *strict) quoted(line []byte) (record []byte, fields int, err error) {
	rest := line
	for {
		fields++
		field := s.trimmed(rest)
		if len(field) == 0 || field[0] != '"' {
			at := bytes.Index(rest, s.comma)
			if at < 0 {
				at = len(rest)
			}
			if err := s.bare(rest[:at], at == len(rest)); err != nil {
				return nil, 0, err
			}
			if at == len(rest) {
				return line, fields, nil
			}
			rest = rest[at+len(s.comma):]
			continue
		}
		body := len(line) - len(field) + 1 // after the quote
		var after int
		if line, after, err = s.closing(line, body); err != nil {
			return nil, 0, err
		}
		rest = s.trimmed(line[after:])
		if len(bytes.TrimRight(rest, "\r\n")) == 0 {
			return line, fields, nil
		}
		if !bytes.HasPrefix(rest, s.comma) {
			return nil, 0, fileFault("line %d has text after a quoted field: want a quote within a field twice, %s%s",
				s.line, orLines, notPublic)
		}
		rest = rest[len(s.comma):]
	}
}

// bare checks a field that is not in quotes. The last field of a line holds the end of the line.
func (s *strict) bare(field []byte, last bool) error {
	if last {
		field = bytes.TrimRight(field, "\r\n")
	}
	if bytes.IndexByte(field, '"') >= 0 {
		return fileFault("line %d has a quote within a field that is not in quotes: want the field in quotes "+
			"and the quote within it twice, %s%s", s.line, orLines, notPublic)
	}
	return s.returns(field)
}

// closing returns the offset after the quote that closes the field whose content begins at from. If
// the field goes on after the end of the line, closing appends the next lines, without line breaks.
func (s *strict) closing(line []byte, from int) ([]byte, int, error) {
	begun := s.line
	for {
		at := bytes.IndexByte(line[from:], '"')
		switch {
		case at < 0:
			var err error
			if line, from, err = s.goOn(line, begun); err != nil {
				return nil, 0, err
			}
		case from+at+1 < len(line) && line[from+at+1] == '"':
			from += at + 2
		default:
			return line, from + at + 1, nil
		}
	}
}

// goOn appends the next line to a record, with a blank instead of the line break, and returns the
// offset of the new text.
func (s *strict) goOn(record []byte, begun int) ([]byte, int, error) {
	text := bytes.TrimRight(record, "\r\n")
	if len(s.record) == 0 {
		s.record = append(s.record, text...)
	}
	s.record = append(s.record[:len(text)], ' ')
	from := len(s.record)
	next, err := s.readLine()
	if err == io.EOF {
		return nil, 0, fileFault("a quote that is opened on line %d is never closed: want a quote at the end of "+
			"the field, %s%s", begun, orLines, notPublic)
	}
	if err != nil {
		return nil, 0, err
	}
	if s.record = append(s.record, next...); len(s.record) > s.most() {
		return nil, 0, fileFault("a quote that is opened on line %d is not closed within %d bytes: want a quote "+
			"at the end of the field, %s%s", begun, s.most(), orLines, notPublic)
	}
	return s.record, from, nil
}

// trimmed returns a text without the blanks before it.
func (s *strict) trimmed(text []byte) []byte {
	if !s.trim {
		return text
	}
	return bytes.TrimLeft(text, " \t")
}

// faultIn returns the fault that an error wraps, or the error.
func faultIn(err error) error {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	return err
}
