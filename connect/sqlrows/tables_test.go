package sqlrows_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/connect/sqlrows"
	"github.com/seed7ba64551/privgen/records"
)

// bank describes customers, their accounts and the transactions of an account.
func bank(t testing.TB) records.Tables {
	s := func(columns ...records.Column) records.Schema {
		return must(records.NewSchema(columns...))(t)
	}
	return records.Tables{Name: "customers", Key: "id",
		Schema: s(records.Categorical("region", "n", "s"), records.Integer("age", 0, 99).WithMissing()),
		Children: []records.Tables{{Name: "accounts", Key: "account", Parents: []string{"customer"},
			Most:    3,
			Ordered: true, Schema: s(records.Numeric("limit", 0, 9)),
			Children: []records.Tables{{Name: "transactions", Parents: []string{"customer", "account"},
				Most: 2, Schema: s(records.Flag("paid", "no", "yes"))}}}}}
}

// TestTablesOfADatabase: rows are joined by keys of any type, and written to new tables with keys
// that the database itself checks.
func TestTablesOfADatabase(t *testing.T) {
	db := database(t, `
		create table customers (id integer primary key, region text, age bigint, name text);
		create table accounts (account text, customer integer, "limit" real);
		create table transactions (account text, customer real, paid text);
		insert into customers values (7, 'n', 30, 'x'), (9, 's', null, 'y');
		insert into accounts values ('a', 9, 1.5), ('a', 7, 2.5), ('b', 7, 3.5), ('c', 8, 4), (null, 7,
			1);
		insert into transactions values ('a', 7, 'yes'), ('b', 7, 'no'), ('b', 9, 'no'), ('b', null,
			'no')`)
	d := bank(t)
	l := must(sqlrows.ReadTables(t.Context(), db, d))(t)
	show := func(l *records.Linked) string {
		var b strings.Builder
		for i := range 3 {
			rows, up := l.Table(i)
			fmt.Fprint(&b, cellsOf(rows), up)
		}
		return b.String()
	}
	want := `{"region":"n","age":30,"number of accounts":2}
{"region":"s","age":null,"number of accounts":1}
[]{"limit":2.5,"number of transactions":1}
{"limit":3.5,"number of transactions":1}
{"limit":1.5,"number of transactions":0}
[0 0 1]{"paid":"yes"}
{"paid":"no"}
[0 1]`
	if got := show(l); got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	statements := must(sqlrows.Create(d))(t)
	out := database(t, strings.Join(statements, "; "))
	out.SetMaxOpenConns(1)
	if _, err := out.Exec("pragma foreign_keys = on"); err != nil {
		t.Fatal(err)
	}
	if err := sqlrows.InsertTables(t.Context(), out, sqlrows.Question,
		func(yield func(*records.Linked, error) bool) {
			for range 2 {
				if !yield(l, nil) {
					return
				}
			}
		}); err != nil {
		t.Fatal(err)
	}
	var orphans int
	if err := out.QueryRow(`select count(*) from transactions where not exists (select 1 from accounts a
		where a.customer = transactions.customer and a.account = transactions.account)`).Scan(
		&orphans); err != nil || orphans > 0 {
		t.Fatal(orphans, err)
	}
	back := must(sqlrows.ReadTables(t.Context(), out, d))(t)
	if rows, _ := back.Table(0); rows.Len() != 4 {
		t.Errorf("%d customers, want those of both parts", rows.Len())
	}
	if _, err := out.Exec(`insert into accounts values (99, 1, 1)`); err == nil {
		t.Error("an account of nobody is accepted: the keys are not declared")
	}
}

// TestLogOfADatabase: the users of a log without a table of users are the names in it.
func TestLogOfADatabase(t *testing.T) {
	db := database(t, `create table log (user text, page text);
		insert into log values ('x', 'a'), ('y', 'b'), (null, 'a'), ('x', 'b')`)
	d := records.Tables{Name: "users", Key: "user", Children: []records.Tables{{Name: "log",
		Parents: []string{"user"}, Most: 3, Ordered: true,
		Schema: must(records.NewSchema(records.Categorical("page", "a", "b")))(t)}}}
	l := must(sqlrows.ReadTables(t.Context(), db, d))(t)
	if rows, up := l.Table(1); l.Len() != 2 || rows.Len() != 3 || fmt.Sprint(up) != "[0 0 1]" {
		t.Error(l.Len(), rows.Len(), up)
	}
	if list := must(sqlrows.Create(d))(t); len(list) != 1 {
		t.Errorf("%v, want one statement: users have no table", list)
	}
	if _, err := sqlrows.ReadTables(t.Context(), db, records.Tables{}); err == nil {
		t.Error("no error without a description")
	}
}

// TestKeysThatATableLacks: SQLite reads the quoted name of a column that does not exist as a text,
// so all rows would have one key.
func TestKeysThatATableLacks(t *testing.T) {
	tables := []string{`customers (id integer, region text, age bigint)`,
		`accounts (Account text, customer integer, "limit" real)`,
		`transactions (account text, customer real, paid text)`}
	for _, c := range []struct{ from, to string }{{"", ""}, {"id", "ident"}, {"Account", "number"},
		{"account text, customer real", "account text, client real"},
		{"account text, customer real", "acc text, customer real"}} {
		text := "create table " + strings.Join(tables, "; create table ")
		db := database(t, strings.Replace(text, c.from, c.to, 1)+
			"; insert into customers values (7, 'n', 30), (9, 's', 40)")
		l, err := sqlrows.ReadTables(t.Context(), db, bank(t))
		if lacks := c.from != c.to; lacks != errors.Is(err, records.ErrFormat) || !lacks && l.Len() != 2 {
			t.Errorf("%s in place of %s: error %v", c.to, c.from, err)
		}
	}
}
