package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/draft"
)

// A messyColumn makes the texts of a column, and says which form they have.
type messyColumn struct {
	name, form string
	text       func(i int) string
}

// messyTables are tables as people have them.
var messyTables = map[string][]messyColumn{
	"clinic;": {
		{"Pat.-Nr.", `\d{6}`, func(i int) string { return fmt.Sprintf("%06d", 7919*i%900001) }},
		{"Aufnahme", `\d\d\.\d\d\.\d{4} \d\d:\d\d`, func(i int) string {
			return fmt.Sprintf("%02d.%02d.2024 %02d:%02d", 1+i%28, 1+i%12, i%24, i%60)
		}},
		{"Hämoglobin [g/dl]", `\d\d,\d|n\.b\.`, func(i int) string {
			return either(i%9 == 0, "n.b.", fmt.Sprintf("%d,%d", 10+i%8, i%10))
		}},
		{"Leukozyten", `\d{1,2}\.\d{3}`, func(i int) string {
			return fmt.Sprintf("%d.%03d", 4+i%9, i*37%1000)
		}},
		{"Gewicht", `\d+ kg`, func(i int) string { return fmt.Sprintf("%d kg", 50+i%61) }},
		{"raucht", `(?i)ja|nein`, func(i int) string { return []string{"Ja", "nein", "NEIN"}[i%3] }},
		{"Leer", ``, func(i int) string { return "" }},
	},
	"shop|": {
		{"Order #", `#\d{4}`, func(i int) string { return fmt.Sprintf("#%d", 1000+i) }},
		{"Paid at", `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}`, func(i int) string {
			return fmt.Sprintf("2024-%02d-%02d 10:%02d:00 +0100", 1+i%12, 1+i%28, i%60)
		}},
		{"Total", `\$\d{1,3}(,\d{3})*\.\d\d`, func(i int) string {
			return fmt.Sprintf("$%d,%03d.%02d", 1+i%9, i*13%1000, i*7%100)
		}},
		{"Discount", `\d+\.\d%|-`, func(i int) string {
			return either(i%3 == 0, "-", fmt.Sprintf("%d.%d%%", i%40, i%10))
		}},
		{"E-mail", `user\d+@example\.com`, func(i int) string {
			return fmt.Sprintf("user%d@example.com", i)
		}},
		{"Rating", `[1-5]\.[05]|99`, func(i int) string {
			return []string{"4.5", "5.0", "3.5", "99"}[i%4]
		}},
		{"Tags", `new|vip, eu|N/A`, func(i int) string { return []string{"new", "vip, eu", "N/A"}[i%3] }},
	},
	"log\t": {
		{"time", `\d\d/[A-Z][a-z][a-z]/2024:\d\d:\d\d:\d\d \+0000`, func(i int) string {
			return fmt.Sprintf("%02d/%s/2024:%02d:%02d:01 +0000", 1+i%28, []string{"Jan", "May", "Sep"}[i%3],
				i%24, i%60)
		}},
		{"status", `200|404|500`, func(i int) string {
			return []string{"200", "404", "500"}[i%3]
		}},
		{"bytes", `\d+|-`, func(i int) string { return either(i%4 == 0, "-", fmt.Sprint(i*i)) }},
		{"latency", `\d+(\.\d+)?ms`, func(i int) string { return fmt.Sprintf("%d.5ms", i%300) }},
		{"trace", `[0-9a-f]{8}`, func(i int) string {
			return fmt.Sprintf("%08x", uint32(i+1)*2654435761)
		}},
		{"ver", `1\.9|1\.10|2\.0`, func(i int) string { return []string{"1.9", "1.10", "2.0"}[i%3] }},
	},
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// messy returns the table of a key of messyTables, whose last character separates the fields.
func messy(key string, rows int) string {
	var b strings.Builder
	comma := key[len(key)-1:]
	for i := -1; i < rows; i++ {
		var fields []string
		for _, c := range messyTables[key] {
			fields = append(fields, either(i < 0, c.name, ""))
			if i >= 0 {
				fields[len(fields)-1] = c.text(i)
			}
		}
		b.WriteString(strings.Join(fields, comma) + "\n")
	}
	return b.String()
}

// TestMessyTablesComeBackAsTheyWere drafts, checks, fits and samples tables without a hand. Each
// text of a sample has the form of the texts that were read, and is no name of a bucket.
func TestMessyTablesComeBackAsTheyWere(t *testing.T) {
	for key, columns := range messyTables {
		s := newSession(t)
		s.write("rows.csv", messy(key, 400))
		s.run(0, "draft", "rows.csv", "--public", "-o", "s.json", "-q")
		s.run(0, "check", "s.json", "rows.csv")
		s.run(0, "plan", "s.json", "--records", "400", "--system", "mst", "-o", "p.json")
		s.run(0, "fit", "p.json", "rows.csv", "--ledger", "l", "--new-ledger", "-o", "g.gen")
		out := s.run(0, "sample", "g.gen", "-n", "100").stdout
		table, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range columns {
			j := slices.Index(table[0], c.name)
			if (j < 0) != (c.form == "") {
				t.Errorf("%s: column %s is at place %d", key, c.name, j)
			}
			form := regexp.MustCompile("^(" + c.form + ")$")
			for i := 1; j >= 0 && i < len(table); i++ {
				if !form.MatchString(table[i][j]) {
					t.Errorf("%s: column %s: a sample has %q", key, c.name, table[i][j])
					break
				}
			}
		}
	}
}

// TestDraftExplainsItself: beside the schema there is a text that says of each column what it was
// taken for, from how many cells, and what else it could be. --json says the same.
func TestDraftExplainsItself(t *testing.T) {
	s := newSession(t)
	s.write("rows.csv", messy("clinic;", 100))
	e := s.run(0, "draft", "rows.csv", "--public", "-o", "s.json", "--json")
	notes := s.read("s.notes.txt")
	for _, want := range []string{`"Pat.-Nr."`, "type  identifier", "numbers of the form 1234,0",
		`all of 88 cells; 12 of 100 missing, which some write as ["n.b."]`, "or    ", "left out"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q: %s", want, notes)
		}
	}
	validate(t, "draft", e.stdout)
	var r struct {
		Notes      string             `json:"notes_file"`
		Recognised []draft.Recognised `json:"recognised"`
	}
	if err := json.Unmarshal([]byte(e.stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Notes != "s.notes.txt" || len(r.Recognised) != 7 || r.Recognised[2].Missing != 12 ||
		!slices.Equal(r.Recognised[2].Absent, []string{"n.b."}) {
		t.Errorf("got %+v", r)
	}
}

// TestManyColumnsHaveFewNotes: standard error describes some columns, and the file all of them.
func TestManyColumnsHaveFewNotes(t *testing.T) {
	s := newSession(t)
	var names, cells []string
	for i := range 500 {
		names, cells = append(names, fmt.Sprintf("x%d", i)), append(cells, fmt.Sprint(i))
	}
	s.write("wide.csv", strings.Join(names, ",")+"\n"+strings.Join(cells, ",")+"\n"+
		strings.Repeat("7,", 499)+"7\n")
	e := s.run(0, "draft", "wide.csv", "--public", "-o", "s.json")
	if n := strings.Count(e.stderr, "column \""); n != mostNotes ||
		!strings.Contains(plain(e.stderr), "440 more columns") {
		t.Errorf("standard error describes %d columns: %s", n, e.stderr)
	}
	if n := strings.Count(s.read("s.notes.txt"), "  is    "); n != 500 {
		t.Errorf("the file describes %d columns", n)
	}
}

// TestUsualWordsAreMissing: cells with usual words for a missing value are no strays, even if they
// are most of a column; other texts are.
func TestUsualWordsAreMissing(t *testing.T) {
	s := newSession(t)
	s.write("s.json", `{"kind":"table","columns":[{"name":"a","type":"integer","lo":0,"hi":9,`+
		`"missing":true}]}`)
	s.write("words.csv", "a\nN/A\n-\nNULL\n(blank)\n5\n")
	s.run(0, "check", "s.json", "words.csv")
	s.write("texts.csv", "a\nabsent\nlate\n5\n")
	s.oneLine(s.run(exitInput, "check", "s.json", "texts.csv"), "column a", "2 of 3", "--strays")
	s.run(exitInput, "check", "s.json", "words.csv", "--missing", "x")
}

// TestDraftSaysWhatItLeavesOut: a constraint that the narrowed columns cannot have was left out
// without a word, and rows then broke it. One that they can have stays.
func TestDraftSaysWhatItLeavesOut(t *testing.T) {
	s := newSession(t)
	s.write("wide.json", `{"kind":"table","columns":[
		{"name":"from","type":"ordinal","levels":["a","b","c","d"]},
		{"name":"to","type":"ordinal","levels":["a","b","c","d"]},
		{"name":"n","type":"integer","lo":0,"hi":1000}],
		"constraints":[{"type":"ascending","columns":["from","to"]},
		{"type":"within","columns":["n"],"lo":"5"},{"type":"within","columns":["n"],"lo":"500"}]}`)
	s.write("rows.csv", "from,to,n\n"+strings.Repeat("a,b,3\nb,c,9\n", 2000))
	e := s.run(0, "draft", "rows.csv", "--candidates", "wide.json", "--epsilon", "5", "--ledger",
		"rows", "--new-ledger", "-o", "out.json")
	if got := plain(e.stderr); !strings.Contains(got, `the constraint "n >= 500" is left out`) ||
		strings.Contains(got, `"n >= 5"`) || strings.Contains(got, `"from <= to"`) ||
		!strings.Contains(s.read("out.json"), "ascending") {
		t.Errorf("got the notes %q and the schema %s", got, s.read("out.json"))
	}
}
