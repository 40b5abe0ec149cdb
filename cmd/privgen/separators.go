package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
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

// csvOf returns the options of a CSV reader for a file, and the file as UTF-8. The separator, if it
// is not given, is the one that finds the columns of a given schema in the header, or, for public
// rows, the one that finds the most fields. The first line is looked at only if it is a header.
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
	packed := bytes.HasPrefix(head, []byte{0x1f, 0x8b})
	coded := l.encoding
	if coded == "auto" && (bytes.HasPrefix(head, []byte{0xff, 0xfe}) ||
		bytes.HasPrefix(head, []byte{0xfe, 0xff})) { // the marks of UTF-16
		coded = "utf-16"
	}
	in = file
	if e := encodings[coded]; e != nil {
		if packed {
			return in, c, usagef("--encoding: want a file that is not compressed")
		}
		in = transform.NewReader(file, e.NewDecoder())
		head, _ = e.NewDecoder().Bytes(head[:len(head)&^1]) // what is cut off is not in the first line
	} else if packed {
		head = unpackedHead(head)
	}
	if !c.Header {
		return in, c, nil
	}
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("\ufeff")), []byte("\n"))
	if !utf8.Valid(line) {
		return in, c, inputf("the header is not UTF-8: want --encoding latin-1, or utf-16")
	}
	if l.comma == "auto" {
		c.Comma = separatorOf(strings.TrimRight(string(line), "\r"), s)
	}
	return in, c, nil
}

// unpackedHead returns the beginning of a file that gzip has packed.
func unpackedHead(head []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil // whoever reads the file finds the error
	}
	out, _ := io.ReadAll(io.LimitReader(r, headBytes)) // the rest is cut off
	return out
}

// separatorOf returns the separator of a header.
func separatorOf(header string, s records.Schema) rune {
	best, most := ',', 1
	for _, sign := range ",;\t|" {
		r := csv.NewReader(strings.NewReader(header))
		r.Comma, r.LazyQuotes = sign, true
		fields, err := r.Read()
		if err != nil {
			continue
		}
		n := len(fields)
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
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
