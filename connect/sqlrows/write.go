package sqlrows

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Placeholder is a database's notation for the arguments of a statement.
type Placeholder int

// The placeholders.
const (
	Question Placeholder = iota // ?, as in SQLite and MySQL
	Dollar                      // $1, as in PostgreSQL
)

// Insert adds records to an existing table that has the schema's columns. One transaction adds all
// of them or none. Numbers are written as DOUBLE PRECISION and whole numbers as BIGINT. Levels,
// datetimes and identifiers are written as TEXT. Durations are written as seconds: BIGINT, or the
// TEXT of a decimal number if there is a fraction. Missing values are NULL. The database converts
// the values to the types of its columns.
//
// The name of the table may include its database schema, as in "public.people". Names are quoted as
// in standard SQL.
//
// Errors: *[param.Error] for a schema that is not of a table, records of another schema, and an
// empty name; the first error of the parts; errors of the database.
func Insert(ctx context.Context, db *sql.DB, p Placeholder, table string, s records.Schema,
	parts iter.Seq2[records.Data, error]) (err error) {
	if db == nil {
		return param.New("sqlrows.Insert.db", nil, "a database")
	}
	text, err := statement(p, table, s)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("sqlrows: %w", err)
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error is more informative
		}
	}()
	insert, err := tx.PrepareContext(ctx, text)
	if err != nil {
		return fmt.Errorf("sqlrows: %w", err)
	}
	defer insert.Close()
	for part, err := range parts {
		if err != nil {
			return err
		}
		if err := add(ctx, insert, s, part); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("sqlrows: %w", err)
	}
	return nil
}

// statement is the INSERT of one record.
func statement(p Placeholder, table string, s records.Schema) (string, error) {
	if _, err := records.NewFrameBuilder(s); err != nil { // it checks the schema
		return "", err
	}
	if p != Question && p != Dollar {
		return "", param.New("sqlrows.Insert.placeholder", p, "Question or Dollar")
	}
	var name []string
	for part := range strings.SplitSeq(table, ".") {
		if part == "" || strings.ContainsRune(part, 0) {
			return "", param.New("sqlrows.Insert.table", table, "the name of a table")
		}
		name = append(name, quoted(part))
	}
	var columns, values []string
	for i, c := range s.Columns() {
		columns = append(columns, quoted(c.Name()))
		if p == Question {
			values = append(values, "?")
		} else {
			values = append(values, "$"+strconv.Itoa(i+1))
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", strings.Join(name, "."),
		strings.Join(columns, ", "), strings.Join(values, ", ")), nil
}

// quoted returns a name quoted for SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// add inserts the records of one part.
func add(ctx context.Context, insert *sql.Stmt, s records.Schema, part records.Data) error {
	if part == nil {
		return param.New("sqlrows.Insert", nil, "records")
	}
	if !part.Schema().Equal(s) {
		return param.New("sqlrows.Insert", part.Schema().String(), s.String())
	}
	f, ok := records.AsFrame(part)
	if !ok {
		joined, err := records.Concat(s, part)
		if err != nil {
			return err
		}
		if f, ok = records.AsFrame(joined); !ok {
			return param.New("sqlrows.Insert", fmt.Sprintf("%T", part), "records of a table")
		}
	}
	columns := s.Columns()
	row := make([]any, len(columns))
	for i := range f.Len() {
		for j, c := range columns {
			row[j] = value(f, c, i, j)
		}
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return fmt.Errorf("sqlrows: %w", err)
		}
	}
	return nil
}

// value converts a cell for the database.
func value(f *records.Frame, c records.Column, row, column int) any {
	switch c.Kind() {
	case records.IntegerColumn:
		if v, there := f.Whole(row, column); there {
			return v
		}
		return nil
	case records.DurationColumn:
		if d, there := f.Duration(row, column); there && d%time.Second == 0 {
			return int64(d / time.Second)
		}
		fallthrough
	case records.DatetimeColumn, records.IdentifierColumn:
		if text := f.Value(row, column); text != "" {
			return text
		}
		return nil
	}
	if c.IsNumber() {
		switch v := f.Number(row, column); {
		case v != v:
			return nil
		default:
			return v
		}
	}
	if l := f.Level(row, column); l >= 0 {
		return c.Levels()[l]
	}
	return nil
}
