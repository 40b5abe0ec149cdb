package records

import (
	"bytes"
	"io"
	"iter"
	"slices"
)

// Lines yields the fields of every line that is neither blank nor a comment, including the header,
// without surrounding blanks. The slice is valid until the next line. A quote that is not closed on
// its line is an ordinary character. Lines protects nothing. It is meant for public texts, for
// example the file that a schema is drafted from.
//
// Errors: *[LimitError]; *[param.Error]; errors of the reader. The first error ends the sequence.
func (c CSV) Lines(r io.Reader) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		lines, err := c.lines(r)
		var out []string
		for err == nil {
			var fields [][]byte
			var fault lineFault
			fields, fault, err = lines.next(-1, c.Limits.fields(0))
			switch {
			case err == io.EOF:
				return
			case err == nil && fault == tooLong:
				err = &LimitError{"LineBytes", "a line is too long"}
			case err == nil && fault == tooMany:
				err = &LimitError{"Fields", "a line has too many fields"}
			}
			if err != nil {
				break
			}
			if out = texts(out[:0], fields); !yield(out, nil) {
				return
			}
		}
		yield(nil, err)
	}
}

// texts appends copies of fields without surrounding blanks.
func texts(dst []string, fields [][]byte) []string {
	for _, field := range fields {
		dst = append(dst, string(bytes.TrimSpace(field)))
	}
	return dst
}

func (c CSV) lines(r io.Reader) (*csvLines, error) {
	if err := c.validateCharacters(); err != nil {
		return nil, err
	}
	in, err := openInput(r, c.Limits)
	if err != nil {
		return nil, err
	}
	return newCSVLines(in, c.Comma, c.Comment, 0), nil
}

// MissingTexts returns the texts of a missing value: Missing, or its default if it is nil.
func (c CSV) MissingTexts() []string {
	if c.Missing == nil {
		return []string{"", "?"}
	}
	return slices.Clone(c.Missing)
}
