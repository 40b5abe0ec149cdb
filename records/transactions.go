package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/seed7ba64551/privgen/internal/param"
)

// ReadTransactions reads sets, one per line, written as item numbers separated by blanks, tabs,
// commas or semicolons, plain or gzip-compressed. An empty line is the empty set, and so is a line
// that is longer than the limits allow. Numbers outside the universe and words that are not whole
// numbers are dropped.
//
// Errors: [ErrFormat] for damaged compression; *[LimitError]; *[param.Error] for a schema that is
// not of sets without classes.
func ReadTransactions(r io.Reader, s Schema, limits ...Limits) (*SetTable, error) {
	b, err := newSetBuilder(s)
	if err != nil {
		return nil, err
	}
	err = scanTransactions(r, s, lastOf(limits), func(row []uint32) error {
		b.add(row)
		return tooManyRows(b.rows())
	})
	if err != nil {
		return nil, err
	}
	return b.table(nil)
}

// tooManyRows returns an error for a file with more lines than a table can number.
func tooManyRows(rows int) error {
	if rows > maxRows {
		return malformed("more lines than a table holds")
	}
	return nil
}

// scanTransactions calls each with the raw items of each line. A row is valid during the call only.
func scanTransactions(r io.Reader, s Schema, limits Limits, each func(row []uint32) error) error {
	if err := unlabelledSets(s); err != nil {
		return err
	}
	in, err := openInput(r, limits)
	if err != nil {
		return err
	}
	lines := textLines{in: in, most: limits.lineBytes(s.maxItems * 16)}
	var row []uint32
	for {
		line, fits, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if row = append(row[:0], noItem); fits {
			row = transaction(row[:0], line, in.limits.values(in.read)-in.values)
		}
		if err := in.spend(len(row) + s.setValues()); err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// OpenTransactions is [ReadTransactions] on a file.
//
// Errors: see [ReadTransactions]; also errors of the file system.
func OpenTransactions(path string, s Schema, limits ...Limits) (*SetTable, error) {
	return withFile(path, func(r io.Reader) (*SetTable, error) {
		return ReadTransactions(r, s, limits...)
	})
}

// noItem stands for an item outside every universe. It replaces a negative number, a number that is
// too large, a word that is not a number, and a line that is too long.
const noItem = math.MaxUint32

// transaction appends the items of one line. It stops once a row has more than most items.
func transaction(row []uint32, line []byte, most int64) []uint32 {
	for len(line) > 0 && int64(len(row)) <= most {
		if isSeparator(line[0]) {
			line = line[1:]
			continue
		}
		end := 1
		for end < len(line) && !isSeparator(line[end]) {
			end++
		}
		row = push(row, item(line[:end]))
		line = line[end:]
	}
	return row
}

func isSeparator(c byte) bool {
	return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r'
}

// item returns the number that a word spells, or noItem.
func item(word []byte) uint32 {
	digits, negative := bytes.CutPrefix(word, []byte("-"))
	var value uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return noItem
		}
		value = min(value*10+uint64(c-'0'), noItem)
	}
	if len(digits) == 0 || negative && value > 0 {
		return noItem
	}
	return uint32(value)
}

// WriteTransactions writes sets, one per line, as ascending item numbers separated by blanks, in
// memory that does not grow with their number.
//
// Errors: *[param.Error] for data that are not sets, and the writer's.
func WriteTransactions(w io.Writer, d Data) error {
	bw := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	err := EachSet(d, func(_ int, items []uint32) error {
		line = line[:0]
		for j, item := range items {
			if j > 0 {
				line = append(line, ' ')
			}
			line = strconv.AppendUint(line, uint64(item), 10)
		}
		_, err := bw.Write(append(line, '\n'))
		return err
	})
	if err == nil {
		err = bw.Flush()
	}
	var shape *param.Error
	if err != nil && !errors.As(err, &shape) {
		return fmt.Errorf("records: writing: %w", err)
	}
	return err
}
