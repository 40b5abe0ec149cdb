package sqlrows

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Querier runs queries. *sql.DB, *sql.Tx and *sql.Conn implement it.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ReadFrame reads all records of a query's result.
//
// Errors: [records.ErrFormat] if a column of the schema is absent from the query's result or occurs
// twice; *[param.Error] for a schema that is not of a table; for errors of the database, an error
// without the database's text, which may hold values of the records.
func ReadFrame(ctx context.Context, db Querier, s records.Schema, query string,
	args ...any) (*records.Frame, error) {
	const all = math.MaxInt / 2
	for f, err := range Stream(ctx, db, s, all, query, args...) {
		return f, err // the first frame holds everything
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	return b.Frame(), nil
}

// Stream reads the records of a query's result in frames of the given number of rows; the last
// frame may be shorter. Memory does not grow with the number of records. It ends after the first
// error. For its errors, see [ReadFrame].
func Stream(ctx context.Context, db Querier, s records.Schema, rows int, query string,
	args ...any) iter.Seq2[*records.Frame, error] {
	return func(yield func(*records.Frame, error) bool) {
		in, err := open(ctx, db, s, rows, query, args)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.rows.Close()
		for {
			f, more, err := in.next(rows)
			if err != nil {
				yield(nil, err)
				return
			}
			if f.Len() > 0 && !yield(f, nil) || !more {
				return
			}
		}
	}
}

// input is the state of reading a query's result.
type input struct {
	rows    *sql.Rows
	builder *records.FrameBuilder
	kinds   []records.ColumnKind
	numbers []bool       // which columns of the schema are numbers
	bools   []bool       // which of them have the type bool in the database
	places  []int        // of the schema's columns in the result, -1 for one that is not read
	cells   []any        // one for each of the query's columns
	scan    []any        // pointers to the cells
	values  []any        // in the schema's order
	row     func() error // called after each row; nil for none
}

func open(ctx context.Context, db Querier, s records.Schema, rows int, query string,
	args []any) (*input, error) {
	if rows < 1 {
		return nil, param.New("sqlrows.Stream rows", rows, "a positive number")
	}
	if db == nil {
		return nil, param.New("sqlrows.Stream.db", nil, "a database")
	}
	builder, err := records.NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	found, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, failed(err)
	}
	in := &input{rows: found, builder: builder}
	if err := in.place(s); err != nil {
		found.Close()
		return nil, err
	}
	return in, nil
}

// place finds the schema's columns among the columns of the query.
func (in *input) place(s records.Schema) error {
	names, err := in.rows.Columns()
	if err != nil {
		return failed(err)
	}
	types, err := in.rows.ColumnTypes()
	if err != nil {
		return failed(err)
	}
	for _, c := range s.Columns() {
		if c.Kind() == records.IdentifierColumn { // identifiers are never read
			in.places, in.kinds = append(in.places, -1), append(in.kinds, c.Kind())
			in.numbers, in.bools = append(in.numbers, false), append(in.bools, false)
			continue
		}
		place := -1
		for i, name := range names {
			if name != c.Name() {
				continue
			}
			if place >= 0 {
				return malformed("two columns are named %q", name)
			}
			place = i
		}
		if place < 0 {
			return malformed("no column is named %q; there are %s", c.Name(), strings.Join(names, ", "))
		}
		in.kinds = append(in.kinds, c.Kind())
		in.places, in.numbers = append(in.places, place), append(in.numbers, c.IsNumber())
		in.bools = append(in.bools, strings.HasPrefix(strings.ToUpper(types[place].DatabaseTypeName()),
			"BOOL"))
	}
	in.cells, in.scan = make([]any, len(names)), make([]any, len(names))
	for i := range in.cells {
		in.scan[i] = &in.cells[i]
	}
	in.values = make([]any, len(in.places))
	return nil
}

// next returns the frame of the next rows; more reports whether further rows may follow.
func (in *input) next(rows int) (f *records.Frame, more bool, err error) {
	for in.builder.Len() < rows {
		if !in.rows.Next() {
			if err := in.rows.Err(); err != nil {
				return nil, false, failed(err)
			}
			return in.builder.Frame(), false, nil
		}
		if err := in.rows.Scan(in.scan...); err != nil {
			return nil, false, failed(err)
		}
		if in.row != nil {
			if err := in.row(); err != nil {
				return nil, false, err
			}
		}
		for j, place := range in.places {
			if place < 0 {
				continue
			}
			in.values[j] = cell(in.cells[place], in.kinds[j], in.numbers[j], in.bools[j])
		}
		if err := in.builder.Append(in.values...); err != nil {
			return nil, false, err
		}
	}
	return in.builder.Frame(), true, nil
}

// cell converts a value of a database to a value of a record. Databases without a type for bools
// use 0 and 1.
func cell(v any, kind records.ColumnKind, number, isBool bool) any {
	switch x := v.(type) {
	case time.Time:
		if kind == records.DatetimeColumn {
			return x
		}
		if number {
			return float64(x.Unix()) + float64(x.Nanosecond())/1e9
		}
		return x.UTC().Format(time.RFC3339Nano)
	case int64:
		if isBool && (x == 0 || x == 1) {
			return x == 1
		}
	}
	return v
}

// failed returns an error of the database without its text: a database names the value that it
// could not convert or compute with. What remains are the errors of package sql and of the
// context, and the code of an SQL error.
func failed(err error) error {
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, driver.ErrBadConn,
		sql.ErrConnDone, sql.ErrTxDone} {
		if errors.Is(err, known) {
			return fmt.Errorf("sqlrows: %w", known)
		}
	}
	code := "unknown"
	var state interface{ SQLState() string }
	if errors.As(err, &state) && sqlState.MatchString(state.SQLState()) {
		code = state.SQLState()
	}
	return fmt.Errorf("sqlrows: the database fails with the SQLSTATE %s; its message is not shown, "+
		"since it may hold values of the records", code)
}

var sqlState = regexp.MustCompile(`^[0-9A-Z]{5}$`)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: sqlrows: %s", records.ErrFormat, fmt.Sprintf(format, args...))
}
