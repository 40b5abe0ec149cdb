package sqlrows

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// ReadTables reads the tables or views of a database that have the names, the keys and the columns
// of a description. Keys may be numbers or texts. A table more than one level below the root needs
// the root's key too, which a view can join. Rows of a table in order are in the order in which the
// database returns them, and a large table of PostgreSQL has none: name their time in Gaps, or let
// a view order them. A view is a program of whoever made the database: it may compute without end,
// until ctx ends it. Values and UnpackedBytes of the limits, if given, bound the cells that are
// read and the bytes of their texts.
//
// Guarantee: see [records.Link], also for which rows are left out.
// Errors: see [ReadFrame]; *[param.Error] for an invalid description; a *[records.LimitError].
func ReadTables(ctx context.Context, db Querier, t records.Tables, limits ...records.Limits) (
	*records.Linked, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	var left records.Limits
	if n := len(limits); n > 0 {
		left = limits[n-1]
	}
	left.Values = cmp.Or(left.Values, math.MaxInt64)
	left.UnpackedBytes = cmp.Or(left.UnpackedBytes, math.MaxInt64)
	var all []records.Keyed
	for _, own := range t.All() {
		k, err := readTable(ctx, db, own, &left)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	if t.Schema.Kind() == 0 { // its rows are the keys that its first child names
		all[0].Keys = slices.Clone(all[1].Parents[0])
	}
	return records.Link(t, all...)
}

// readTable reads the rows of one table, and takes their cells from what is left.
func readTable(ctx context.Context, db Querier, t records.Tables, left *records.Limits) (
	k records.Keyed, err error) {
	if t.Schema.Kind() == 0 {
		return k, nil
	}
	names := keyNames(t)
	var list []string
	for _, name := range names {
		list = append(list, quoted(name))
	}
	for _, c := range t.Schema.Columns() {
		if c.Kind() != records.IdentifierColumn {
			list = append(list, quoted(c.Name()))
		}
	}
	query := fmt.Sprintf("SELECT %s FROM %s", strings.Join(list, ", "), quoted(t.Name))
	in, err := open(ctx, db, t.Schema, 1, query, nil)
	if err != nil {
		return k, err
	}
	defer in.rows.Close()
	found, err := in.rows.Columns()
	if err != nil {
		return k, failed(err)
	}
	for i, name := range names { // SQLite reads a quoted name that no column has as a text
		if !strings.EqualFold(found[i], name) {
			return k, malformed("table %q: no column is named %q", t.Name, name)
		}
	}
	keys := make([][]string, len(names))
	for i := range keys {
		keys[i] = []string{}
	}
	in.row = func() error {
		for i := range keys {
			text, ok := keyText(in.cells[i])
			if !ok {
				return malformed("table %q: a key of type %T: want a text, a number, a truth value or a "+
					"time", t.Name, in.cells[i])
			}
			keys[i] = append(keys[i], text)
		}
		return take(left, in.cells)
	}
	const all = math.MaxInt / 2
	if k.Rows, _, err = in.next(all); err != nil {
		return k, err
	}
	k.Parents = keys[:len(t.Parents)]
	if t.Key != "" {
		k.Keys = keys[len(t.Parents)]
	}
	return k, nil
}

// take takes the cells of a row from what is left.
func take(left *records.Limits, cells []any) error {
	left.Values -= int64(len(cells))
	for _, v := range cells {
		switch x := v.(type) {
		case string:
			left.UnpackedBytes -= int64(len(x))
		case []byte:
			left.UnpackedBytes -= int64(len(x))
		}
	}
	if left.Values < 0 {
		return &records.LimitError{Limit: "Values", What: "sqlrows: the tables have too many cells"}
	}
	if left.UnpackedBytes < 0 {
		return &records.LimitError{Limit: "UnpackedBytes", What: "sqlrows: the tables' texts are long"}
	}
	return nil
}

// keyText returns the text of a key: "" for null. It is false for values of unknown types, whose
// rows would otherwise be lost.
func keyText(v any) (text string, ok bool) {
	switch x := v.(type) {
	case nil:
		return "", true
	case bool:
		return strconv.FormatBool(x), true
	case string:
		return x, true
	case []byte:
		return string(x), true
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano), true
	}
	switch x := reflect.ValueOf(v); {
	case x.CanInt():
		return strconv.FormatInt(x.Int(), 10), true
	case x.CanUint():
		return strconv.FormatUint(x.Uint(), 10), true
	case x.CanFloat(): // a database compares 1 and 1.0 as equal
		return strconv.FormatFloat(x.Float(), 'f', -1, x.Type().Bits()), true
	}
	return "", false
}

// Create returns the statements that create empty tables for generated rows, in standard SQL. Keys
// are declared as such.
//
// Errors: *[param.Error] for an invalid description.
func Create(t records.Tables) (statements []string, err error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	create(t, nil, &statements)
	return statements, nil
}

// create appends the statements of a table and its children.
func create(t records.Tables, parent *records.Tables, statements *[]string) {
	names := keyNames(t)
	if t.Schema.Kind() != 0 {
		var columns []string
		for _, name := range names {
			columns = append(columns, quoted(name)+" BIGINT NOT NULL")
		}
		for _, c := range t.Schema.Columns() {
			columns = append(columns, quoted(c.Name())+" "+sqlType(c.Kind()))
		}
		if t.Key != "" {
			columns = append(columns, "PRIMARY KEY ("+quotedList(names)+")")
		}
		if parent != nil && parent.Schema.Kind() != 0 {
			columns = append(columns, fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)",
				quotedList(t.Parents), quoted(parent.Name), quotedList(keyNames(*parent))))
		}
		*statements = append(*statements, fmt.Sprintf("CREATE TABLE %s (%s)", quoted(t.Name),
			strings.Join(columns, ", ")))
	}
	for _, c := range t.Children {
		create(c, &t, statements)
	}
}

// keyNames returns the names of the columns of keys, the row's own at the end.
func keyNames(t records.Tables) []string {
	names := slices.Clone(t.Parents)
	if t.Key != "" {
		names = append(names, t.Key)
	}
	return names
}

func quotedList(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, quoted(name))
	}
	return strings.Join(list, ", ")
}

// sqlType returns the type of the values that Insert writes.
func sqlType(k records.ColumnKind) string {
	switch k {
	case records.IntegerColumn:
		return "BIGINT"
	case records.NumericColumn, records.TargetColumn:
		return "DOUBLE PRECISION"
	}
	return "TEXT"
}

// InsertTables adds the rows of several tables to existing tables with their names, keys and
// columns, such as those of [Create]. Keys are numbered from 1 in each table, through all parts.
// One transaction adds all parts or none. See [Insert] for how values are written.
//
// Errors: those of the parts; errors of the database; *[param.Error] for parts of other tables.
func InsertTables(ctx context.Context, db *sql.DB, p Placeholder,
	parts iter.Seq2[*records.Linked, error]) (err error) {
	if db == nil {
		return param.New("sqlrows.InsertTables.db", nil, "a database")
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
	var tables records.Tables
	var before []int
	for l, err := range parts {
		if err != nil {
			return err
		}
		if before == nil {
			tables, before = l.Tables(), make([]int, len(l.Tables().All()))
		}
		if !l.Tables().Equal(tables) {
			return param.New("sqlrows.InsertTables.parts", l.Tables().Name, "rows of the same tables")
		}
		for i, t := range l.Tables().All() {
			if t.Schema.Kind() == 0 {
				continue
			}
			if err := insertAll(ctx, tx, p, t.Name, l.Keyed(i, before)); err != nil {
				return err
			}
		}
		for i := range before {
			rows, _ := l.Table(i)
			before[i] += rows.Len()
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("sqlrows: %w", err)
	}
	return nil
}

// insertAll adds the rows of one part of one table.
func insertAll(ctx context.Context, tx *sql.Tx, p Placeholder, table string,
	rows *records.Frame) error {
	text, err := statement(p, table, rows.Schema())
	if err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, text)
	if err != nil {
		return fmt.Errorf("sqlrows: %w", err)
	}
	defer insert.Close()
	return add(ctx, insert, rows.Schema(), rows)
}
