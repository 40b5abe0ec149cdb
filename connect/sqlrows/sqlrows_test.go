package sqlrows_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the database of the tests

	"github.com/seed7ba64551/privgen/connect/sqlrows"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func people(t testing.TB) records.Schema {
	t.Helper()
	return must(records.NewSchema(
		records.Numeric("weight \"kg\"", 0, 200),
		records.Integer("age", 0, 1<<53).WithMissing(),
		records.Categorical("town", "Köln", "'; drop table people; --").WithMissing(),
		records.Flag("alive", "no", "yes"),
	))(t)
}

func database(t *testing.T, script string) *sql.DB {
	t.Helper()
	db := must(sql.Open("sqlite", filepath.Join(t.TempDir(), "db")))(t)
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
	return db
}

const table = `create table people ("weight ""kg""" double precision, age bigint, town text,
	alive text not null, id integer primary key)`

func cellsOf(f *records.Frame) string {
	var b strings.Builder
	for i := range f.Len() {
		b.Write(append(f.AppendJSON(nil, i), '\n'))
	}
	return b.String()
}

func parts(all ...records.Data) func(yield func(records.Data, error) bool) {
	return func(yield func(records.Data, error) bool) {
		for _, d := range all {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func TestRowsComeBack(t *testing.T) {
	s, ctx := people(t), context.Background()
	f := must(records.FromValues(s,
		[]any{71.25, 1<<53 - 1, "Köln", true},
		[]any{1e-300, nil, "'; drop table people; --", false},
		[]any{200, 0, nil, true},
	))(t)
	db := database(t, table)
	if err := sqlrows.Insert(ctx, db, sqlrows.Question, "people", s, parts(f, f.Slice(0, 2))); err !=
		nil {
		t.Fatal(err)
	}
	const query = `select * from people order by id`
	back := must(sqlrows.ReadFrame(ctx, db, s, query))(t)
	if want := cellsOf(f) + cellsOf(f.Slice(0, 2)); cellsOf(back) != want ||
		records.Check(back) != nil {
		t.Errorf("%s, want %s", cellsOf(back), want)
	}
	var sizes []int
	for piece, err := range sqlrows.Stream(ctx, db, s, 2, query) {
		sizes = append(sizes, must(piece, err)(t).Len())
	}
	if fmt.Sprint(sizes) != "[2 2 1]" {
		t.Errorf("got frames of %v rows, which is not as asked for", sizes)
	}
	none := must(sqlrows.ReadFrame(ctx, db, s, `select * from people where age = ?`, -5))(t)
	if none.Len() != 0 || !none.Schema().Equal(s) {
		t.Errorf("an empty result gives %d rows", none.Len())
	}
}

// TestAllRowsOrNone: an insert that fails half way leaves the table unchanged.
func TestAllRowsOrNone(t *testing.T) {
	s, ctx := people(t), context.Background()
	f := must(records.FromValues(s, []any{1, 2, "Köln", true}))(t)
	db := database(t, table)
	broken := errors.New("no more")
	err := sqlrows.Insert(ctx, db, sqlrows.Question, "people", s,
		func(yield func(records.Data, error) bool) { _ = yield(f, nil) && yield(nil, broken) })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := sqlrows.Insert(cancelled, db, sqlrows.Question, "people", s, parts(f)); err == nil {
		t.Error("a cancelled insert succeeds")
	}
	if _, err := sqlrows.ReadFrame(cancelled, db, s, "select * from people"); err == nil {
		t.Error("a cancelled query succeeds")
	}
	if got := must(sqlrows.ReadFrame(ctx, db, s, "select * from people"))(t); got.Len() != 0 {
		t.Errorf("after failed inserts the table has %d rows, want none", got.Len())
	}
}

func TestValuesOfManyTypes(t *testing.T) {
	db := database(t, "create table t (at datetime, n text, level integer, flag boolean, x blob)")
	at := time.Date(2026, 1, 2, 3, 4, 5, 500_000_000, time.UTC)
	if _, err := db.Exec("insert into t values (?, ' 2.5 ', 7, true, ?), (null, 'x', 8, false, null)",
		at, []byte("1")); err != nil {
		t.Fatal(err)
	}
	s := must(records.NewSchema(
		records.Categorical("level", "7", "9").WithMissing(), records.Numeric("n", 0, 9),
		records.Flag("flag", "n", "y"), records.Numeric("at", 0, 1e12),
		records.Categorical("when", at.Format(time.RFC3339Nano)).WithMissing(),
		records.Numeric("x", -1, 9),
	))(t)
	f := must(sqlrows.ReadFrame(context.Background(), db, s, `select *, at as "when" from t`))(t)
	want := fmt.Sprintf(`{"level":"7","n":2.5,"flag":"y","at":%d.5,"when":%q,"x":1}`+"\n"+
		`{"level":null,"n":0,"flag":"n","at":0,"when":null,"x":-1}`+"\n", at.Unix(),
		at.Format(time.RFC3339Nano))
	if got := cellsOf(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !f.Stray(1, 0) || !f.Stray(1, 1) {
		t.Error("records.Check does not report the invalid cells")
	}
}

func TestArguments(t *testing.T) {
	s, ctx := people(t), context.Background()
	db := database(t, table)
	wrong := func(what string, err error) {
		t.Helper()
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("%s: got %v, want a *param.Error", what, err)
		}
	}
	for _, err := range sqlrows.Stream(ctx, db, s, 0, "select 1") {
		wrong("no rows", err)
	}
	_, err := sqlrows.ReadFrame(ctx, nil, s, "select 1")
	wrong("no database", err)
	_, err = sqlrows.ReadFrame(ctx, db, records.Binary(1), "select 1")
	wrong("vectors", err)
	wrong("no database", sqlrows.Insert(ctx, nil, sqlrows.Dollar, "t", s, parts()))
	wrong("no table", sqlrows.Insert(ctx, db, sqlrows.Dollar, "a..b", s, parts()))
	wrong("no placeholder", sqlrows.Insert(ctx, db, 7, "t", s, parts()))
	wrong("vectors", sqlrows.Insert(ctx, db, sqlrows.Question, "people", records.Binary(1), parts()))
	vectors := must(records.FromFlat(records.Binary(1), []float32{1}))(t)
	wrong("other records", sqlrows.Insert(ctx, db, sqlrows.Question, "people", s, parts(vectors)))
	wrong("no records", sqlrows.Insert(ctx, db, sqlrows.Question, "people", s, parts(nil)))
	for says, query := range map[string]string{
		`no column is named "town"`:   `select "weight ""kg""", age, alive from people`,
		`two columns are named "age"`: `select *, 1 as age from people`,
	} {
		_, err := sqlrows.ReadFrame(ctx, db, s, query)
		if !errors.Is(err, records.ErrFormat) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want records.ErrFormat", query, err)
		}
	}
	if _, err := sqlrows.ReadFrame(ctx, db, s, "select nothing"); err == nil {
		t.Error("an invalid query returns no error")
	}
}

// TestErrorsHoldNoCell: the database's error names the value of a cell; the error of reading does
// not.
func TestErrorsHoldNoCell(t *testing.T) {
	db := database(t, table+`; insert into people values (70, 30, '$', 'yes', 1),
		(70, 30, 'hidden', 'yes', 2)`)
	const query = `select "weight ""kg""", age, json_extract('{}', town) as town, alive from people`
	for _, query := range []string{query, query + ` where id = 2`} { // fails at row 2, at row 1
		rows, err := db.Query(query)
		for err == nil && rows.Next() {
		}
		if err == nil {
			err = errors.Join(rows.Err(), rows.Close())
		}
		if err == nil || !strings.Contains(err.Error(), "hidden") {
			t.Fatalf("the database's error is %v, so the test proves nothing", err)
		}
		_, err = sqlrows.ReadFrame(t.Context(), db, people(t), query)
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "hidden") {
			t.Errorf("got %#v, want an error without the cell", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlrows.ReadFrame(ctx, db, people(t), query); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: got %v", err)
	}
}

// stated is an error of a driver with a state, as PostgreSQL's drivers return them.
type stated string

func (e stated) Error() string    { return "a row holds " + string(e) }
func (e stated) SQLState() string { return string(e) }

// failing is a database whose queries fail.
type failing struct{ err error }

func (f failing) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, f.err
}

// TestOnlyStatesAreShown: an error shows the state that a driver gives if it has the form of one,
// and never the driver's text.
func TestOnlyStatesAreShown(t *testing.T) {
	for state, shown := range map[stated]bool{"23505": true, "XX000": true, "": false, "hidden": false,
		"hid'n": false, "HIDDEN": false, "1234": false, "00000 hidden": false, "hidden\n00000": false,
		"12345\n": false} {
		for _, err := range []error{state, fmt.Errorf("wrapped: %w", state)} {
			_, got := sqlrows.ReadFrame(t.Context(), failing{err}, people(t), "select 1")
			if got == nil {
				t.Fatal("a failed query returns no error")
			}
			text := fmt.Sprintf("%v %+v %#v", got, got, got)
			if has := state != "" && strings.Contains(text, string(state)); has != shown ||
				strings.Contains(text, "a row holds") || errors.As(got, new(stated)) {
				t.Errorf("%q: %s", string(state), text)
			}
		}
	}
}
