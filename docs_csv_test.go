package privgen_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
)

var updateDocs = flag.Bool("update-docs", false,
	"write docs/studies/*.csv from the tables of the pages, and docs/reference/*.json")

// TestTablesAsCSV checks that every page of docs/studies has a CSV file beside it with the cells of
// its tables. Each line has the section, table, row, column and value of one cell. The pages are
// the source; the command
//
//	go test -run TestTablesAsCSV -update-docs .
//
// writes the files.
func TestTablesAsCSV(t *testing.T) {
	list, err := filepath.Glob(filepath.Join("docs", "studies", "*.md"))
	if err != nil || len(list) < 8 {
		t.Fatalf("%d pages: %v", len(list), err)
	}
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := tablesAsCSV(t, string(text))
		if bytes.Count(want, []byte("\n")) < 4 {
			t.Errorf("%s has no table", name)
		}
		file := strings.TrimSuffix(name, ".md") + ".csv"
		if *updateDocs {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the tables of %s (%v): run "+
				"go test -run TestTablesAsCSV -update-docs .", file, name, err)
		}
	}
}

func TestTablesAsCSVReadsCells(t *testing.T) {
	const page = "# Page\n\n## Part\n\n| a | b |\n|---|---|\n| x, y | **.5** |\n| z | – |\n\n" +
		"| c | d |\n|---|---|\n| `w` | 1 |\n"
	const want = "section,table,row,column,value\nPart,1,1,a,\"x, y\"\nPart,1,1,b,.5\n" +
		"Part,1,2,a,z\nPart,1,2,b,–\nPart,2,1,c,w\nPart,2,1,d,1\n"
	if got := string(tablesAsCSV(t, page)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// tablesAsCSV returns the cells of a page's tables as CSV. Tables and rows are numbered from 1.
func tablesAsCSV(t *testing.T, page string) []byte {
	t.Helper()
	var b bytes.Buffer
	out := csv.NewWriter(&b)
	write := func(fields ...string) {
		if err := out.Write(fields); err != nil {
			t.Fatal(err)
		}
	}
	write("section", "table", "row", "column", "value")
	section, table, row := "", 0, 0
	var head []string
	listing := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			listing = !listing
		case listing:
		case strings.HasPrefix(line, "#"):
			section, head = strings.TrimSpace(strings.TrimLeft(line, "#")), nil
		case !strings.HasPrefix(line, "|"):
			head = nil
		case strings.HasPrefix(line, "|---"):
		case head == nil:
			head = cellsOf(line)
			table++
			row = 0
		default:
			row++
			for i, cell := range cellsOf(line)[:len(head)] {
				write(section, strconv.Itoa(table), strconv.Itoa(row), head[i], cell)
			}
		}
	}
	out.Flush()
	return b.Bytes()
}

// cellsOf returns the cells of a row without emphasis, code marks and the targets of links.
func cellsOf(line string) (cells []string) {
	line = link.ReplaceAllStringFunc(line, func(s string) string {
		return s[1:strings.Index(s, "]")]
	})
	line = strings.NewReplacer("**", "", "`", "").Replace(strings.Trim(line, "|"))
	for cell := range strings.SplitSeq(line, "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// TestFilesOfTheReference checks the plan and the ledger quoted by docs/reference/files.md: the
// library must write exactly these files.
func TestFilesOfTheReference(t *testing.T) {
	schema, err := records.NewSchema(records.Integer("age", 0, 100),
		records.Categorical("ward", "north", "south").WithMissing(),
		records.Label("outcome", "home", "stay"))
	if err != nil {
		t.Fatal(err)
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	plan, err := privgen.MERF(schema, budget).Train(merf.GeneratorConfig{Steps: 10}).Plan()
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.FromValues(schema, []any{30, "north", "home"})
	if err != nil {
		t.Fatal(err)
	}
	ledger := accountant.NewLedger(budget)
	if _, err := plan.FitOn(t.Context(), ledger, data); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{"plan.json": plan, "ledger.json": ledger} {
		want, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		file := filepath.Join("docs", "reference", name)
		if *updateDocs {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what the library writes (%v): run "+
				"go test -run TestFilesOfTheReference -update-docs .", file, err)
		}
	}
	text, err := os.ReadFile(filepath.Join("docs", "reference", "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	read, err := privgen.ReadPlan(text)
	if err != nil || read.Total() != plan.Total() {
		t.Errorf("the plan is read as %v, %v", read, err)
	}
}

// TestSchemasOfTheReference reads every schema in docs/reference/files.md. Together they must have
// all kinds of records.
func TestSchemasOfTheReference(t *testing.T) {
	path := filepath.Join("docs", "reference", "files.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	section, _, _ := strings.Cut(string(text), "\n## Plan\n")
	kinds := map[records.Kind]bool{}
	for _, b := range parsePage(path, section).blocks {
		d := json.NewDecoder(strings.NewReader(b.code))
		for d.More() {
			var s records.Schema
			if err := d.Decode(&s); err != nil {
				t.Fatalf("%s:%d: %v", path, b.line, err)
			}
			kinds[s.Kind()] = true
		}
	}
	if len(kinds) != 7 {
		t.Errorf("got schemas of %d kinds, want 7", len(kinds))
	}
}
