package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

const shopText = `{"name":"customers","key":"id","schema":{"kind":"table","columns":[
	{"name":"region","type":"categorical","levels":["n","s"]}]},
	"children":[{"name":"orders","parents":["id"],"most":3,"schema":{"kind":"table","columns":[
	{"name":"paid","type":"flag","levels":["no","yes"]}]}}]}`

// shop writes a description of two tables, and a folder with their rows.
func shop(s *session, customers, orders string) {
	s.write("shop.json", shopText)
	if err := os.MkdirAll(s.path("shop"), 0o700); err != nil {
		s.Fatal(err)
	}
	s.write("shop/customers.csv", customers)
	s.write("shop/orders.csv", orders)
}

const twoOrders = "id,paid,note\n1,yes,a\n2,no,b\n"

// TestATextIsNoOtherRow: a text with a line break in quotes is a part of its own row, and does not
// become a row of somebody else; with --lines it does, which is said.
func TestATextIsNoOtherRow(t *testing.T) {
	s := newSession(t)
	shop(s, "id,region\n1,n\n2,s\n", "id,paid,note\n1,yes,\"x\n2,no,y\n2,no,z\"\n")
	d, _, err := tablesIn("shop.json", []byte(s.read("shop.json")))
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	a := &app{stderr: &said}
	for _, lines := range []bool{false, true} {
		l, err := a.readTables(t.Context(), s.path("shop"), d, layout{comma: "auto", encoding: "auto",
			format: "auto", lines: lines})
		if err != nil {
			t.Fatal(err)
		}
		rows, up := l.Table(1)
		if of2 := rows.Len() > 0 && up[rows.Len()-1] == 1; of2 != lines || !lines && rows.Len() != 1 {
			t.Errorf("lines %v: %d orders of %v", lines, rows.Len(), up)
		}
		if strings.Contains(said.String(), "--lines") != lines {
			t.Errorf("lines %v: said %q", lines, said.String())
		}
	}
}

// TestFitOfBadTables: files that are malformed, or mostly outside the schema, are refused before
// anything is spent, with the name of the file.
func TestFitOfBadTables(t *testing.T) {
	s := newSession(t)
	good := "id,region\n1,n\n2,s\n"
	shop(s, good, twoOrders)
	s.run(exitOK, "plan", "shop.json", "--epsilon", "3", "--records", "100", "-o", "plan.json")
	fit := []string{"fit", "plan.json", "shop", "--ledger", "l", "--new-ledger", "-o", "g"}
	for _, c := range []struct {
		customers, orders string
		code              int
		words             []string
		more              []string
	}{
		{good, "id,paid,note\n1,yes,\"x\n2,no,y\n", exitInput, []string{"orders.csv", "never closed"},
			nil},
		{good, "id,paid,note\n1,JA,x\n2,NEIN,y\n", exitInput, []string{"orders", "column paid"}, nil},
		{"id,region\n1,w\n", twoOrders, exitInput, []string{"customers", "column region"}, nil},
		{good, twoOrders, exitUsage, []string{"--names"}, []string{"--names", "id,paid,note"}},
		{good, twoOrders, exitUsage, []string{"--strays"}, []string{"--strays", "2"}},
	} {
		shop(s, c.customers, c.orders)
		s.oneLine(s.run(c.code, append(fit, c.more...)...), c.words...)
	}
	for _, name := range []string{"g", "g.ckpt"} {
		if exists(s.path(name)) {
			t.Errorf("%s was written", name)
		}
	}
	shop(s, good, "id,paid,note\n1,JA,x\n2,no,y\n")
	if e := s.run(exitOK, fit...); !strings.Contains(e.stderr, "column paid in 1") {
		t.Errorf("no note about a value outside the schema: %q", e.stderr)
	}
}

// TestSmallDatabasesCostLittle: views of a small file that have endless rows or long cells are
// refused before they take much memory. A view within the limits is read.
func TestSmallDatabasesCostLittle(t *testing.T) {
	s := newSession(t)
	shop(s, "id,region\n", "id,paid,note\n")
	d, _, err := tablesIn("shop.json", []byte(s.read("shop.json")))
	if err != nil {
		t.Fatal(err)
	}
	const count = "with recursive c(x) as (select 1 union all select x + 1 from c"
	for i, view := range []struct {
		text string
		rows int
	}{
		{count + ") select x as id, 'n' as region from c", -1},
		{count + " limit 300) select x as id, hex(zeroblob(3000000)) as region from c", -1},
		{"select zeroblob(900000000) as id, 'n' as region", -1},
		{count + " limit 300) select x as id, 'n' as region from c", 300},
	} {
		path := s.path(fmt.Sprint(i, ".db"))
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec("create view customers as " + view.text +
			"; create table orders (id, paid, note)")
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		a := &app{stderr: io.Discard}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l, err := a.readTables(t.Context(), path, d, layout{})
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 256 {
			t.Errorf("%s: %d MB", view.text, got)
		}
		if (err != nil) != (view.rows < 0) || err == nil && l.Len() != view.rows {
			t.Errorf("%s: got error %v, want %d rows", view.text, err, view.rows)
		}
	}
}

// TestNothingIsReadFromPipes: what is read from a pipe to see whether it holds a database would be
// missing from the records.
func TestNothingIsReadFromPipes(t *testing.T) {
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Skip(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const text = "SQLite format 3\x00 and more"
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	w.Close()
	isDatabase(fmt.Sprint("/dev/fd/", r.Fd()))
	if left, err := io.ReadAll(r); string(left) != text {
		t.Errorf("%q is left, %v", left, err)
	}
}

// TestPlansReplacePlansOnly: records and generators are not replaced by a plan or a schema.
func TestPlansReplacePlansOnly(t *testing.T) {
	s := newSession(t)
	s.write("people.csv", "age,sex\n30,f\n40,m\n")
	s.run(0, "draft", "people.csv", "--public", "-o", "schema.json")
	for range 2 { // a plan may replace a plan
		s.run(0, "plan", "schema.json", "--records", "1000", "--anyway", "-o", "plan.json")
	}
	s.write("a.gen", "\x00\x01\x02\x03")
	s.write("people.jsonl", `{"age":30,"sex":"f"}`+"\n"+`{"age":40,"sex":"m"}`+"\n")
	s.write("one.jsonl", `{"age":30,"sex":"f"}`+"\n")
	s.write("key.jsonl", `{"key":1,"kind":"f","name":"a"}`+"\n")
	s.write("spaced.csv", strings.Repeat("\n", 3000)+"age,sex\n30,f\n")
	s.run(0, "ledger", "create", "people", "--epsilon", "1", "--delta", "1e-6")
	db, err := sql.Open("sqlite", s.path("shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("create table customers (id integer primary key, age integer); " +
		"create table visits (customer integer references customers, days integer); " +
		"insert into customers values (1, 30), (2, 40); insert into visits values (1, 3), (2, 5)")
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s.run(0, "draft", "shop.db", "--public", "--root", "customers", "-o", "tables.json")
	s.run(0, "draft", "shop.db", "--public", "--root", "customers", "-o", "tables.json")
	for _, name := range []string{"people.csv", "a.gen", "people.jsonl", "one.jsonl",
		"key.jsonl", "spaced.csv",
		"ledgers/people/journal"} {
		text := s.read(name)
		s.run(2, "plan", "schema.json", "--records", "1000", "--anyway", "-o", name)
		s.write("other.csv", "age,sex\n30,f\n40,m\n")
		s.run(2, "draft", "other.csv", "--public", "-o", name)
		s.run(2, "draft", "shop.db", "--public", "--root", "customers", "-o", name)
		if s.read(name) != text {
			t.Errorf("%s was replaced", name)
		}
	}
}

// TestPaidFilesAreNotReplaced: no command writes a result that costs nothing over a generator, a
// ledger or a database. Other files are replaced.
func TestPaidFilesAreNotReplaced(t *testing.T) {
	s := newSession(t)
	s.run(0, "ledger", "create", "people", "--epsilon", "1", "--delta", "1e-6")
	s.write("a.gen", "privgen\x02 and more")
	s.write("a.db", "SQLite format 3\x00 and more")
	s.write("a.csv", "a,b\n")
	s.write("empty", "")
	a := &app{stderr: io.Discard}
	for name, paid := range map[string]bool{"a.gen": true, "a.db": true,
		"ledgers/people/journal": true, "a.csv": false, "empty": false, "new": false} {
		err := a.save(s.path(name), func(w io.Writer) error {
			_, err := io.WriteString(w, "rows")
			return err
		})
		if (err != nil) != paid || !paid && s.read(name) != "rows" {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// TestRowsBesideADatabaseCount: rows that SQLite has not moved from its log into the database are
// read, although the database alone would be too small for them.
func TestRowsBesideADatabaseCount(t *testing.T) {
	s := newSession(t)
	shop(s, "id,region\n", "id,paid,note\n")
	d, _, err := tablesIn("shop.json", []byte(shopText))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", s.path("a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("pragma journal_mode = wal; pragma wal_autocheckpoint = 0; " +
		"create table customers (id, region); create table orders (id, paid, note); " +
		"with recursive c(x) as (select 1 union all select x + 1 from c limit 100) " +
		"insert into customers select x, hex(zeroblob(50000)) from c"); err != nil {
		t.Fatal(err)
	}
	a := &app{stderr: io.Discard}
	if l, err := a.readTables(t.Context(), s.path("a.db"), d, layout{}); err != nil || l.Len() != 100 {
		t.Errorf("got error %v", err)
	}
}
