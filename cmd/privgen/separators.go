package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/seed7ba64551/privgen/records"
)

// headBytes is how much of a file is looked at to find its encoding and its separator.
const headBytes = 1 << 16

var encodings = map[string]encoding.Encoding{
	"utf-16":  unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"latin-1": charmap.Windows1252, // which has latin-1's letters where latin-1 has letters
}

// textOf returns a CSV file, or a sheet of a workbook, as lines of UTF-8 with one record each, and
// the options of their reader. end must be called after reading.
func (l *layout) textOf(format string, in io.Reader, s records.Schema) (out io.Reader,
	c records.CSV, end func(), err error) {
	if format == "xlsx" {
		return l.sheetOf(in, s)
	}
	out, c, err = l.csvOf(in, s)
	return out, c, func() {}, err
}

// csvOf is textOf for a CSV file. The separator, if it is not given, is the one that finds the
// columns of a given schema in the header, or, for public rows, the one that finds the most fields.
// The first record is looked at only if it is a header.
func (l *layout) csvOf(in io.Reader, s records.Schema) (io.Reader, records.CSV, error) {
	c, err := l.csv()
	if err != nil {
		return in, c, err
	}
	if err := oneOf("encoding", l.encoding, "auto", "utf-8", "utf-16", "latin-1"); err != nil {
		return in, c, err
	}
	file := bufio.NewReaderSize(in, headBytes)
	head, err := file.Peek(headBytes)
	if err != nil && err != io.EOF {
		return in, c, err
	}
	coded := l.encoding
	if coded == "auto" && c.Header && (bytes.HasPrefix(head, []byte{0xff, 0xfe}) ||
		bytes.HasPrefix(head, []byte{0xfe, 0xff})) { // the marks of UTF-16
		coded = "utf-16"
	}
	if e := encodings[coded]; e != nil {
		file = bufio.NewReaderSize(transform.NewReader(file, e.NewDecoder()), headBytes)
		head, _ = e.NewDecoder().Bytes(head[:len(head)&^1]) // what is cut off is not in the header
	}
	skipped := 0
	if c.Header {
		line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("\ufeff")), []byte("\n"))
		if !utf8.Valid(line) {
			return in, c, inputf("the header is not UTF-8: want --encoding latin-1, or utf-16")
		}
		sign, found := separatorLine(line)
		if found {
			end := bytes.IndexByte(head, '\n') + 1
			head, skipped = head[end:], 1
			if _, err := file.Discard(end); err != nil {
				return in, c, err
			}
		}
		switch {
		case l.comma != "auto":
		case found:
			c.Comma = sign
		default:
			c.Comma = l.separatorOf(head, c.Comment, s)
		}
	}
	if l.lines {
		return file, c, nil
	}
	out := newStrict(file, c.Comma, c.Comment, l.fields(s))
	out.line = skipped
	return out, c, nil
}

// separatorLine returns the separator that a line such as sep=; names. Excel writes such a line
// before the header.
func separatorLine(line []byte) (rune, bool) {
	text, found := bytes.CutPrefix(bytes.TrimRight(line, "\r"), []byte("sep="))
	sign, size := utf8.DecodeRune(text)
	return sign, found && size > 0 && size == len(text) && sign != '"'
}

// fields returns the number of fields of each record, or 0 if the first record determines it.
func (l *layout) fields(s records.Schema) int {
	switch columns := len(s.Columns()); {
	case l.names != nil:
		return len(l.names)
	case !l.noHeader:
		return 0
	case columns > 0:
		return columns
	case s.Classes() > 0:
		return s.Dim() + 1
	}
	return s.Dim()
}

// separatorOf returns the separator of the header that a file begins with.
func (l *layout) separatorOf(head []byte, comment rune, s records.Schema) rune {
	best, most := ',', 1
	for _, sign := range ",;\t|" {
		fields := l.header(head, sign, comment)
		n := len(fields)
		if columns := s.Columns(); len(columns) > 0 {
			n = 1
			for _, c := range columns {
				if slices.Contains(fields, c.Name()) {
					n++
				}
			}
		}
		if n > most {
			best, most = sign, n
		}
	}
	return best
}

// header returns the first fields of a file with the given separator, as they are read.
func (l *layout) header(head []byte, comma, comment rune) []string {
	if l.lines {
		head, _, _ = bytes.Cut(head, []byte("\n"))
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(head, []byte("\ufeff"))))
	r.Comma, r.LazyQuotes = comma, true
	if r.Comment = comment; comment == comma {
		return nil
	}
	fields, _ := r.Read()
	for i, text := range fields {
		fields[i] = strings.TrimSpace(strings.ReplaceAll(text, "\n", " "))
	}
	return fields
}
