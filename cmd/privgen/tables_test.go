package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

const shopTables = `{"name": "customers", "key": "customer",
 "schema": {"kind": "table", "columns": [
  {"name": "region", "type": "categorical", "levels": ["n", "s", "e"]},
  {"name": "age", "type": "integer", "lo": 18, "hi": 90}]},
 "children": [{"name": "orders", "key": "order", "parents": ["customer"], "most": 4,
	"ordered": true,
  "schema": {"kind": "table", "columns": [
   {"name": "state", "type": "categorical", "levels": ["a", "b", "c"]}]},
  "children": [{"name": "items", "parents": ["customer", "order"], "most": 2,
   "schema": {"kind": "table", "columns": [
    {"name": "gift", "type": "flag", "levels": ["no", "yes"]}]}}]}]}
`

// shopFolder writes the tables and a folder of customers, some of whose rows belong to nobody.
func shopFolder(s *session) {
	s.write("shop.json", shopTables)
	if err := os.Mkdir(s.path("shop"), 0o700); err != nil {
		s.Fatal(err)
	}
	customers, orders, items := "customer,region,age\n", "customer,order,state\n",
		"customer,order,gift\n"
	for i := range 300 {
		customers += fmt.Sprintf("c%d,%c,%d\n", i, "nse"[i%3], 18+i%70)
		for k := range i % 4 {
			orders += fmt.Sprintf("c%d,%d,%c\n", i, k, "abc"[(i+k)%3])
			items += fmt.Sprintf("c%d,%d,%s\n", i, k, []string{"no", "yes"}[k%2])
		}
	}
	s.write("shop/customers.csv", customers)
	s.write("shop/orders.csv", orders+"nobody,1,a\n,2,a\nc1,,b\n")
	s.write("shop/items.csv", items+"c1,99,yes\n")
}

// TestSeveralTables plans, fits and samples several tables, from a folder and from a database, to a
// folder and to a database.
func TestSeveralTables(t *testing.T) {
	s := newSession(t)
	shopFolder(s)
	e := s.run(0, "plan", "shop.json", "--records", "300", "--epsilon", "3", "-o", "plan.json")
	if !strings.Contains(e.stdout, "table items: at most 8 rows of a row of customers") {
		t.Errorf("the bill does not name the largest number of rows:\n%s", e.stdout)
	}
	e = s.run(0, "fit", "plan.json", "shop", "--ledger", "l", "--new-ledger", "-o", "a.gen")
	if !strings.Contains(e.stdout, "one user") {
		t.Errorf("the guarantee does not name its unit:\n%s", e.stdout)
	}
	s.run(0, "sample", "a.gen", "-n", "50", "-o", "out", "--seed", "1", "--where", "age>=60")
	if text := s.read("out/customers.csv"); strings.Count(text, "\n") != 51 {
		t.Errorf("%d lines, want 50 customers and a header", strings.Count(text, "\n"))
	}
	s.run(0, "sample", "a.gen", "-n", "50", "-o", "out.db", "--seed", "1")
	db, err := sql.Open("sqlite", s.path("out.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var customers, faults int
	if err := db.QueryRow(`select count(*), (select count(*) from pragma_foreign_key_check)
		from customers`).Scan(&customers, &faults); err != nil || customers != 50 || faults > 0 {
		t.Errorf("%d customers, and %d keys without a row: %v", customers, faults, err)
	}
	s.run(0, "fit", "plan.json", "out.db", "--ledger", "m", "--new-ledger", "-o", "b.gen")
	e = s.run(0, "report", "a.gen", "shop", "--holdout", "out.db", "--json")
	var scores tablesReport
	if err := json.Unmarshal([]byte(e.stdout), &scores); err != nil || scores.Roots != 300 ||
		scores.HeldOut == nil || scores.Synthetic.Steps == 0 || scores.Synthetic.Steps > 0.6 {
		t.Errorf("the report is %s: %v", e.stdout, err)
	}
	s.run(0, "sample", "a.gen", "-n", "50", "-o", "columns", "--seed", "1", "--format", "parquet")
	if e = s.run(0, "report", "a.gen", "columns", "--json", "--holdout", "out.db"); !strings.Contains(
		e.stdout, `"held_out": {
    "lengths": 0,
    "columns": 0,`) {
		t.Errorf("rows of Parquet files are not those of the database: %s", e.stdout[:600])
	}
	if risk := scores.Whole.Risk; risk == nil || len(risk.Attacks) == 0 {
		t.Error("no attack on root rows")
	}
	e = s.run(0, "report", "a.gen", "shop", "-o", "page.html")
	if !strings.Contains(e.stdout, "not private") || !strings.Contains(e.stdout, "cardinality") ||
		!strings.Contains(s.read("page.html"), "orders: state, as before") {
		t.Errorf("the report is %s", e.stdout)
	}
	left, err := os.ReadDir(s.folder)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(left, func(f os.DirEntry) bool {
		return strings.HasPrefix(f.Name(),
			".tables")
	}) {
		t.Error("a temporary folder is left")
	}
}

// TestSeveralTablesRefused: mistakes cost nothing, and no output replaces what is there.
func TestSeveralTablesRefused(t *testing.T) {
	s := newSession(t)
	shopFolder(s)
	s.run(0, "plan", "shop.json", "--records", "300", "-o", "plan.json")
	s.run(0, "fit", "plan.json", "shop", "--ledger", "l", "--new-ledger", "-o", "a.gen")
	s.write("bad.json", strings.Replace(shopTables, `"most": 4`, `"most": 0`, 1))
	if err := os.Mkdir(s.path("lost"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write("lost/customers.csv", s.read("shop/customers.csv"))
	s.write("lost/orders.csv", "customer,order,state\nC1,1,a\n") // other names of all customers
	s.write("lost/items.csv", s.read("shop/items.csv"))
	for _, args := range [][]string{
		{"plan", "bad.json", "--records", "300"},
		{"plan", "shop.json", "--records", "300", "--rows-per-person", "3"},
		{"plan", "shop.json", "--records", "300", "--system", "gan"},
		{"fit", "plan.json", "shop/orders.csv", "--ledger", "l", "-o", "b.gen"},
		{"fit", "plan.json", "missing", "--ledger", "l", "-o", "b.gen"},
		{"fit", "plan.json", "lost", "--ledger", "l", "-o", "b.gen"},
		{"sample", "a.gen", "-n", "5"},
		{"report", "a.gen", "shop", "--publish"},
		{"report", "a.gen"},
		{"sample", "a.gen", "-n", "5", "-o", "shop"},
		{"sample", "a.gen", "-n", "5", "-o", "plan.json"},
		{"sample", "a.gen", "-n", "5", "-o", "x", "--format", "jsonl"},
		{"sample", "a.gen", "-n", "5", "-o", "x", "--where", "gift=yes"},
	} {
		e := finishAny(s, args...)
		if e == 0 {
			t.Errorf("%v: no error", args)
		}
	}
	if s.read("shop.json") != shopTables || !strings.HasPrefix(s.read("shop/orders.csv"),
		"customer,") {
		t.Error("an input has changed")
	}
}

// finishAny runs a command and returns its exit status.
func finishAny(s *session, args ...string) int {
	c := s.command(args...)
	_ = c.Run()
	return c.ProcessState.ExitCode()
}

// TestDatabaseTutorialRuns runs every block of commands of the tutorial.
func TestDatabaseTutorialRuns(t *testing.T) {
	text, err := os.ReadFile("../../docs/tutorials/database.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	db, err := sql.Open("sqlite", s.path("shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	script := `create table customers (id text primary key, region text, born integer, name text);
		create table orders (customer text, number integer, state text, amount real);
		create table items (customer text, number integer, kind text, gift text);`
	for i := range 600 {
		script += fmt.Sprintf("insert into customers values ('c%d', '%s', %d, 'a name');", i,
			[]string{"north", "south", "east"}[i%3], 1940+i%60)
		for k := range i % 4 {
			script += fmt.Sprintf("insert into orders values ('c%d', %d, '%s', %d);", i, k,
				[]string{"sent", "paid", "returned"}[(i+k)%3], i%90)
			script += fmt.Sprintf("insert into items values ('c%d', %d, 'toy', 'yes');", i, k)
		}
	}
	if _, err := db.Exec("begin; " + script + " commit;"); err != nil {
		t.Fatal(err)
	}
	sample, err := sql.Open("sqlite", s.path("sample.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer sample.Close()
	if _, err := sample.Exec(declaredShop); err != nil {
		t.Fatal(err)
	}
	commands := "set -euo pipefail\nexport PATH=\"" + strings.TrimSuffix(program, "/privgen") +
		":$PATH\" PRIVGEN_STORE=\n"
	for i, part := range strings.Split(string(text), "```") {
		if body, isShell := strings.CutPrefix(part, "sh\n"); i%2 == 1 && isShell {
			commands += body
		}
	}
	c := s.command()
	c.Path, c.Args = "/bin/bash", []string{"bash", "-c", commands}
	if out, err := c.CombinedOutput(); err != nil || strings.Count(commands, "privgen ") != 5 {
		t.Fatalf("%v\n%s", err, out)
	}
	s.run(0, "plan", "draft.json", "--records", "600", "-o", "drafted.json")
}

// declaredShop makes a public shop with declared keys, of which some are not of use: a table of
// goods to which items belong, too, and notes that name an order, but not its customer.
const declaredShop = `create table customers (id text primary key, region text, born integer);
	create table goods (good text primary key);
	create table orders (customer text references customers, number integer, state text, amount real,
		placed text, primary key (customer, number));
	create table items (customer text, number integer, kind text, gift text,
		good text references goods,
		foreign key (customer, number) references orders (customer, number));
	create table notes (number integer references orders (number), text text);
	insert into customers values ('a', 'north', 1950), ('b', 'south', 2000);
	insert into orders values ('a', 1, 'sent', 1.5, '2025-01-03'),
		('a', 2, 'paid', 2.5, '2025-01-02'), ('b', 1, 'sent', 3.5, '2025-02-01');
	insert into items values ('a', 2, 'toy', 'yes', null), ('b', 1, 'book', 'no', null);`

// TestDraftOfADatabase: which rows belong to which is read from the declared keys.
func TestDraftOfADatabase(t *testing.T) {
	s := newSession(t)
	db, err := sql.Open("sqlite", s.path("sample.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(declaredShop); err != nil {
		t.Fatal(err)
	}
	s.oneLine(s.run(2, "draft", "sample.db", "--public", "-o", "shop.json"), "--root",
		"customers or goods")
	e := s.run(0, "draft", "sample.db", "--public", "--root", "customers", "-o", "shop.json")
	if !strings.Contains(e.stderr, "table notes is left out") {
		t.Errorf("no word about notes:\n%s", e.stderr)
	}
	if !strings.Contains(e.stderr, `table orders may have "ordered": true, "gaps": "placed"`) {
		t.Errorf("no word about times:\n%s", e.stderr)
	}
	var d records.Tables
	if err := json.Unmarshal([]byte(s.read("shop.json")), &d); err != nil {
		t.Fatal(err)
	}
	orders := d.Children[0]
	items := orders.Children[0]
	if d.Key != "id" || orders.Key != "number" || orders.Most != 2 || items.Most != 1 ||
		items.Key != "" ||
		!slices.Equal(items.Parents, []string{"customer", "number"}) ||
		len(items.Schema.Columns()) != 2 || len(orders.Children) != 1 {
		t.Errorf("the draft is %s", s.read("shop.json"))
	}
}

// TestDraftOfLinks: a key of a row that belongs to nobody is a column, tables of keys alone are
// left out, and names may have blanks. A database of one table says what is wanted.
func TestDraftOfLinks(t *testing.T) {
	s := newSession(t)
	db, err := sql.Open("sqlite", s.path("sample.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`create table people (id integer primary key, age integer)`); err != nil {
		t.Fatal(err)
	}
	s.oneLine(s.run(exitInput, "draft", "sample.db", "--public", "-o", "x.json"),
		"declared foreign keys")
	s.oneLine(s.run(exitInput, "draft", "sample.db", "--public", "--root", "people", "-o", "x.json"),
		"those of people")
	if _, err := db.Exec(`create table goods (id integer primary key, price real);
		create table "Käufe 2" (person integer references people, good integer references goods,
			primary key (person, good));
		create table visits (person integer references people);
		insert into people values (1, 20), (2, 30);
		insert into goods values (7, 1.5), (8, 2.5);
		insert into "Käufe 2" values (1, 7), (1, 8), (2, 8);
		insert into visits values (1), (2)`); err != nil {
		t.Fatal(err)
	}
	e := s.run(0, "draft", "sample.db", "--public", "--root", "people", "-o", "links.json")
	for _, want := range []string{"table visits is left out", "good names rows of table goods"} {
		if text := strings.Join(strings.Fields(e.stderr), " "); !strings.Contains(text, want) {
			t.Errorf("no word of %q:\n%s", want, e.stderr)
		}
	}
	var d records.Tables
	if err := json.Unmarshal([]byte(s.read("links.json")), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Children) != 1 || d.Children[0].Name != "Käufe 2" || d.Children[0].Most != 2 ||
		d.Children[0].Key != "" || d.Children[0].Schema.ColumnIndex("good") != 0 {
		t.Errorf("the draft is %s", s.read("links.json"))
	}
	checked := s.run(0, "check", "links.json", "sample.db").stdout
	if !strings.Contains(checked, "2 records") || !strings.Contains(checked, "3 of 3 columns") {
		t.Errorf("checked:\n%s", checked)
	}
	if _, err := db.Exec(`update "Käufe 2" set good = 'x' || good`); err != nil {
		t.Fatal(err)
	}
	checked = s.run(exitInput, "check", "links.json", "sample.db").stdout
	if !strings.Contains(checked, "Käufe 2 good: 3 of 3 cells are outside the schema") {
		t.Errorf("checked:\n%s", checked)
	}
}

// TestSampleOfTables: a folder may be named with a separator at the end, the ending of a database
// in any letters, and conditions that are too rare are no internal error. Nothing else is left.
func TestSampleOfTables(t *testing.T) {
	s := newSession(t)
	shop(s, "id,region\n1,n\n2,s\n", twoOrders)
	s.run(exitOK, "plan", "shop.json", "--epsilon", "3", "--records", "100", "-o", "plan.json")
	s.run(exitOK, "fit", "plan.json", "shop", "--ledger", "l", "--new-ledger", "-o", "g")
	s.run(exitOK, "sample", "g", "-n", "9", "-o", "out/")
	s.read("out/orders.csv")
	s.run(exitOK, "sample", "g", "-n", "9", "-o", "out.SQLite3")
	if !isDatabase(s.path("out.SQLite3")) {
		t.Error("no database")
	}
	s.oneLine(s.run(exitInput, "sample", "g", "-n", "9", "--where", "region=n", "--where", "region=s",
		"--attempts", "2", "-o", "none"), "too rare")
	left, err := os.ReadDir(s.folder)
	for _, e := range left {
		if e.Name() == "none" || strings.HasPrefix(e.Name(), ".tables") {
			t.Errorf("%s is left", e.Name())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
