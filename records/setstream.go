package records

import (
	"errors"
	"io"
	"iter"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// EachSet calls each with the items of every record, in order. It reads a chunk of rows at a time,
// so memory does not grow with the data. The slice is valid during the call only. EachSet stops at
// the first error of each and returns it.
//
// Errors: *[param.Error] for data that are not sets.
func EachSet(d Data, each func(row int, items []uint32) error) error {
	if err := given("records.EachSet", d); err != nil {
		return err
	}
	if err := setSchema(d.Schema()); err != nil {
		return err
	}
	const chunk = 4096
	var b device.Batch
	for lo := 0; lo < d.Len(); lo += chunk {
		d.Range(lo, min(lo+chunk, d.Len()), &b)
		for i := range b.Rows {
			if err := each(lo+i, b.Sparse.Row(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// errStopped ends a scan whose consumer has stopped.
var errStopped = errors.New("records: stopped")

// StreamTransactions is like [ReadTransactions], but returns the records in tables of at most rows
// records each, in memory that does not grow with the file.
//
// Errors: see [ReadTransactions], after the tables of the lines before the error; *[param.Error]
// for a number of rows that is not positive.
func StreamTransactions(r io.Reader, s Schema, rows int,
	limits ...Limits) iter.Seq2[*SetTable, error] {
	return func(yield func(*SetTable, error) bool) {
		err := streamTransactions(r, s, rows, lastOf(limits), func(t *SetTable) error {
			if !yield(t, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

func streamTransactions(r io.Reader, s Schema, rows int, limits Limits,
	emit func(*SetTable) error) error {
	c, err := newChunks(s, rows, emit)
	if err != nil {
		return err
	}
	if err := scanTransactions(r, s, limits, c.add); err != nil {
		return err
	}
	return c.flush()
}

// chunks collects rows into tables of bounded size.
type chunks struct {
	builder *setBuilder
	rows    int
	emit    func(*SetTable) error
}

func newChunks(s Schema, rows int, emit func(*SetTable) error) (*chunks, error) {
	if rows < 1 || rows > maxRows {
		return nil, param.New("records.StreamTransactions.rows", rows,
			"a positive number of rows per table")
	}
	b, err := newSetBuilder(s)
	return &chunks{b, rows, emit}, err
}

func (c *chunks) add(row []uint32) error {
	if c.builder.add(row); c.builder.rows() < c.rows {
		return nil
	}
	return c.flush()
}

// flush emits the rows collected so far, if there are any.
func (c *chunks) flush() error {
	if c.builder.rows() == 0 {
		return nil
	}
	t, err := c.builder.table(nil)
	if err != nil {
		return err
	}
	if c.builder, err = newSetBuilder(t.schema); err != nil {
		return err
	}
	return c.emit(t)
}
