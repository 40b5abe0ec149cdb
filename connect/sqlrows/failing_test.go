package sqlrows_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/connect/sqlrows"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// brokenDB is a database of three rows of which one call fails, with a text that names a cell.
type brokenDB struct {
	left                  int // calls before the one that fails
	added, commits, backs int
	last                  []driver.Value // what was added last
}

var errCell = errors.New("cannot convert 'secret'")

func (f *brokenDB) fails() error {
	if f.left--; f.left == -1 {
		return errCell
	}
	return nil
}

func (f *brokenDB) Connect(context.Context) (driver.Conn, error) { return f, f.fails() }
func (f *brokenDB) Driver() driver.Driver                        { return nil }
func (f *brokenDB) Close() error                                 { return nil }
func (f *brokenDB) Begin() (driver.Tx, error)                    { return tx{f}, f.fails() }

func (f *brokenDB) Prepare(query string) (driver.Stmt, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return &stmt{f, query}, nil
}

type tx struct{ f *brokenDB }

func (t tx) Commit() error {
	if err := t.f.fails(); err != nil {
		return err
	}
	t.f.commits++
	return nil
}

func (t tx) Rollback() error { t.f.backs++; return nil }

type stmt struct {
	f     *brokenDB
	query string
}

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return -1 }

func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	s.f.last = slices.Clone(args)
	if err := s.f.fails(); err != nil {
		return nil, err
	}
	s.f.added++
	return driver.RowsAffected(1), nil
}

func (s *stmt) Query([]driver.Value) (driver.Rows, error) {
	if err := s.f.fails(); err != nil {
		return nil, err
	}
	names := []string{"id", "of", "x"}
	if list, _, found := strings.Cut(strings.TrimPrefix(s.query, "SELECT "), " FROM"); found {
		names = nil
		for name := range strings.SplitSeq(list, ", ") {
			names = append(names, strings.Trim(name, `"`))
		}
	}
	return &rows{f: s.f, names: names}, nil
}

type rows struct {
	f     *brokenDB
	names []string
	n     int
}

func (r *rows) Columns() []string { return r.names }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(dest []driver.Value) error {
	if err := r.f.fails(); err != nil {
		return err
	}
	if r.n++; r.n > 3 {
		return io.EOF
	}
	for i := range dest {
		dest[i] = int64(r.n)
	}
	return nil
}

// TestEveryFailingCall lets each call to the database fail once. What is read is an error, without
// the database's text, and never fewer rows. What is written is committed as a whole, or not at
// all.
func TestEveryFailingCall(t *testing.T) {
	s, err := records.NewSchema(records.Integer("x", 0, 9))
	if err != nil {
		t.Fatal(err)
	}
	tables := records.Tables{Name: "people", Schema: s, Key: "id", Children: []records.Tables{
		{Name: "visits", Schema: s, Most: 2, Parents: []string{"of"}}}}
	f, err := records.FromValues(s, []any{1}, []any{2}, []any{3})
	if err != nil {
		t.Fatal(err)
	}
	linked, err := records.Link(tables, records.Keyed{Rows: f, Keys: []string{"a", "b", "c"}},
		records.Keyed{Rows: f, Parents: [][]string{{"a", "b", "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	twice := func(yield func(records.Data, error) bool) {
		if yield(f, nil) {
			yield(f, nil)
		}
	}
	for what, c := range map[string]struct {
		op    func(db *sql.DB) (rows int, err error)
		rows  int
		reads bool
	}{
		"ReadFrame": {func(db *sql.DB) (int, error) {
			f, err := sqlrows.ReadFrame(t.Context(), db, s, "all")
			return f.Len(), err
		}, 3, true},
		"Stream": {func(db *sql.DB) (n int, err error) {
			for f, err := range sqlrows.Stream(t.Context(), db, s, 2, "all") {
				if err != nil {
					return n, err
				}
				n += f.Len()
			}
			return n, nil
		}, 3, true},
		"ReadTables": {func(db *sql.DB) (n int, err error) {
			l, err := sqlrows.ReadTables(t.Context(), db, tables)
			if err != nil {
				return 0, err
			}
			visits, _ := l.Table(1)
			return l.Len() + visits.Len(), nil
		}, 6, true},
		"Insert": {func(db *sql.DB) (int, error) {
			return 0, sqlrows.Insert(t.Context(), db, sqlrows.Dollar, "people", s, twice)
		}, 6, false},
		"InsertTables": {func(db *sql.DB) (int, error) {
			return 0, sqlrows.InsertTables(t.Context(), db, sqlrows.Question,
				func(yield func(*records.Linked, error) bool) {
					if yield(linked, nil) {
						yield(linked, nil)
					}
				})
		}, 12, false},
	} {
		for at := 0; ; at++ {
			f := &brokenDB{left: at}
			db := sql.OpenDB(f)
			n, err := c.op(db)
			if !c.reads {
				n = f.added
			}
			done := f.left >= 0
			if done && (err != nil || n != c.rows || !c.reads && (f.commits != 1 || f.backs != 0)) {
				t.Errorf("%s: %d rows, %d commits, %v, want %d rows", what, n, f.commits, err, c.rows)
			}
			if done {
				if at < 4 {
					t.Errorf("%s: only %d calls", what, at)
				}
				break
			}
			if err == nil || c.reads && strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: call %d fails: %d rows, %v", what, at, n, err)
			}
			if f.commits > 0 || !c.reads && f.added > 0 && f.backs == 0 && at < c.rows {
				t.Errorf("%s: call %d fails: %d commits, %d taken back", what, at, f.commits, f.backs)
			}
			db.Close()
		}
	}
	other := tables
	other.Children = append(other.Children[:1:1], records.Tables{Name: "stays", Schema: s, Most: 2,
		Parents: []string{"of"}})
	more, err := records.Link(other, records.Keyed{Rows: f, Keys: []string{"a", "b", "c"}},
		records.Keyed{Rows: f, Parents: [][]string{{"a", "b", "c"}}},
		records.Keyed{Rows: f, Parents: [][]string{{"a", "b", "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	db := &brokenDB{left: 1 << 20}
	err = sqlrows.InsertTables(t.Context(), sql.OpenDB(db), sqlrows.Question,
		func(yield func(*records.Linked, error) bool) { _ = yield(linked, nil) && yield(more, nil) })
	if wrong := (*param.Error)(nil); !errors.As(err, &wrong) || db.commits > 0 || db.backs != 1 {
		t.Errorf("parts of other tables: %v, %d commits", err, db.commits)
	}
	for what, err := range map[string]error{
		"Insert":       sqlrows.Insert(t.Context(), nil, sqlrows.Dollar, "people", s, twice),
		"InsertTables": sqlrows.InsertTables(t.Context(), nil, sqlrows.Dollar, nil),
		"placeholder": sqlrows.Insert(t.Context(), sql.OpenDB(&brokenDB{left: 9}), 2, "people", s,
			twice),
		"name": sqlrows.Insert(t.Context(), sql.OpenDB(&brokenDB{left: 9}), 1, "a..b", s, twice),
	} {
		if wrong := (*param.Error)(nil); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestWhatIsWritten: the value of each kind of column in the database, and NULL for a missing one.
func TestWhatIsWritten(t *testing.T) {
	at := time.Unix(3600, 0).UTC()
	s, err := records.NewSchema(records.Numeric("x", 0, 9).WithMissing(),
		records.Integer("n", 0, 1<<60).WithMissing(), records.Categorical("c", "a", "b").WithMissing(),
		records.Datetime("t", time.Unix(0, 0).UTC(), at, time.Second).WithMissing(),
		records.Duration("d", 0, time.Hour, 500*time.Millisecond).WithMissing(),
		records.Identifier("id", records.UUID()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		row  []any
		want []driver.Value
	}{
		{[]any{0.5, 1 << 59, "b", at, 1500 * time.Millisecond, nil}, []driver.Value{0.5, int64(1 << 59),
			"b", "1970-01-01T01:00:00Z", "1.5", nil}},
		{[]any{0, 0, "a", at, 2 * time.Second, nil}, []driver.Value{0.0, int64(0), "a",
			"1970-01-01T01:00:00Z", int64(2), nil}},
		{make([]any, 6), make([]driver.Value, 6)},
	} {
		f, err := records.FromValues(s, c.row)
		if err != nil {
			t.Fatal(err)
		}
		db := &brokenDB{left: 1 << 20}
		if err := sqlrows.Insert(t.Context(), sql.OpenDB(db), sqlrows.Question, "people", s,
			func(yield func(records.Data, error) bool) { yield(f, nil) }); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(db.last, c.want) {
			t.Errorf("%v is written as %#v, want %#v", c.row, db.last, c.want)
		}
	}
	broken := errors.New("broken")
	db := &brokenDB{left: 1 << 20}
	err = sqlrows.InsertTables(t.Context(), sql.OpenDB(db), sqlrows.Dollar,
		func(yield func(*records.Linked, error) bool) { yield(nil, broken) })
	if !errors.Is(err, broken) || db.commits > 0 {
		t.Errorf("parts that break off: %v, %d commits", err, db.commits)
	}
}
