package records

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/seed7ba64551/privgen/param"
)

// ReadTransactions reads sets written one record a line as item numbers between
// blanks, tabs, commas or semicolons, plain or gzip-compressed. An empty line is
// the empty set. A number that is no item of the universe is dropped, as
// [SetTable] says.
//
// Errors: [ErrFormat], naming the line, where something is not a whole number;
// *[param.Error] for a schema that is not one of sets without classes.
func ReadTransactions(r io.Reader, s Schema) (*SetTable, error) {
	b, err := newSetBuilder(s)
	if err != nil {
		return nil, err
	}
	err = scanTransactions(r, s, func(row []uint32) error {
		b.add(row)
		return tooMany(b.rows())
	})
	if err != nil {
		return nil, err
	}
	return b.table(nil)
}

// tooMany refuses a file of more lines than a table's row numbers can name.
func tooMany(rows int) error {
	if rows > maxRows {
		return malformed("more lines than a table holds")
	}
	return nil
}

// scanTransactions hands out the raw items of each line; a row is valid during the call.
func scanTransactions(r io.Reader, s Schema, each func(row []uint32) error) error {
	if err := unlabelledSets(s); err != nil {
		return err
	}
	br, err := plain(r)
	if err != nil {
		return err
	}
	scan := transactionScanner{r: br}
	for {
		row, err := scan.line()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// OpenTransactions is [ReadTransactions] on a file.
func OpenTransactions(path string, s Schema) (*SetTable, error) {
	return withFile(path, func(r io.Reader) (*SetTable, error) { return ReadTransactions(r, s) })
}

// noItem stands for a number that no universe holds: negative, or too large.
const noItem = math.MaxUint32

// transactionScanner reads bytes rather than lines, so that a line of any length
// costs no more than its items.
type transactionScanner struct {
	r     *bufio.Reader
	lines int
	row   []uint32
}

// line returns the items of the next line, or io.EOF after the last.
func (t *transactionScanner) line() ([]uint32, error) {
	t.row = t.row[:0]
	t.lines++
	for first := true; ; first = false {
		c, err := t.r.ReadByte()
		switch {
		case err == io.EOF && first:
			return nil, io.EOF
		case err == io.EOF || c == '\n' && err == nil:
			return t.row, nil
		case err != nil:
			return nil, truncated(fmt.Sprintf("line %d", t.lines), err)
		case isSeparator(c):
		default:
			if err := t.number(c); err != nil {
				return nil, err
			}
		}
	}
}

func isSeparator(c byte) bool {
	return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r'
}

// number reads the rest of the number that begins with c.
func (t *transactionScanner) number(c byte) error {
	var value uint64
	negative, digits := c == '-', 0
	for sign := negative; ; sign = false {
		if !sign {
			if c < '0' || c > '9' {
				return t.notANumber()
			}
			digits++
			value = min(value*10+uint64(c-'0'), noItem)
		}
		next, err := t.r.Peek(1)
		if err != nil && err != io.EOF {
			return truncated(fmt.Sprintf("line %d", t.lines), err)
		}
		if len(next) == 0 || next[0] == '\n' || isSeparator(next[0]) {
			break
		}
		c = next[0]
		t.r.Discard(1)
	}
	if digits == 0 {
		return t.notANumber()
	}
	if negative && value > 0 {
		value = noItem
	}
	t.row = append(t.row, uint32(value))
	return nil
}

func (t *transactionScanner) notANumber() error {
	return malformed("line %d, item %d is not a whole number", t.lines, len(t.row)+1)
}

// WriteTransactions writes the sets one record a line, items ascending between
// blanks, in memory that does not grow with their number.
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
