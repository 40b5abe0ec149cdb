package privgen_test

import (
	"bytes"
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var updateCSV = flag.Bool("update-csv", false, "write docs/studies/*.csv from the tables of the pages")

// TestTablesAsCSV: the numbers of every page of docs/studies are in a CSV file beside it, a line for
// each cell: section, table, row, column and value. The pages are the source; the command
//
//	go test -run TestTablesAsCSV -update-csv .
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
		if *updateCSV {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the tables of %s say (%v): "+
				"go test -run TestTablesAsCSV -update-csv .", file, name, err)
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

// tablesAsCSV writes the cells of a page's tables: tables and rows are numbered from 1.
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

// cellsOf are the cells of a row without emphasis, code marks and the targets of links.
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
