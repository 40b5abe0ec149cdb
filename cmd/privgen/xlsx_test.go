package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/seed7ba64551/privgen/records"
)

// book writes a workbook with rows on its second sheet.
func (s *session) book(name string, rows ...[]any) {
	s.Helper()
	f := excelize.NewFile()
	defer f.Close()
	if _, err := f.NewSheet("data"); err != nil {
		s.Fatal(err)
	}
	for i, row := range rows {
		for j, value := range row {
			place, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err != nil {
				s.Fatal(err)
			}
			if err := f.SetCellValue("data", place, value); err != nil {
				s.Fatal(err)
			}
		}
	}
	style := func(place, format string) {
		id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
		if err != nil {
			s.Fatal(err)
		}
		if err := f.SetCellStyle("data", place, place, id); err != nil {
			s.Fatal(err)
		}
	}
	for i := range rows[1:] {
		style("B"+string(rune('2'+i)), `"$"#,##0.00`)
		style("C"+string(rune('2'+i)), "00000")
	}
	if err := f.SaveAs(s.path(name)); err != nil {
		s.Fatal(err)
	}
}

// TestWorkbooks: a sheet has the records of the CSV file with the shown texts, and samples are
// written so that they are read again.
func TestWorkbooks(t *testing.T) {
	s := newSession(t)
	day := func(d int) time.Time { return time.Date(2024, 3, d, 0, 0, 0, 0, time.UTC) }
	s.book("b.xlsx", []any{"n", "money", "code", "day", "text"},
		[]any{1.5, 1234.5, 345, day(20), "two\nlines"},
		[]any{2, 20, 99999, day(21), "=1+1"},
		[]any{nil, nil, nil, nil, nil},
		[]any{3, 1e6, 1, day(2), `"x", y`})
	s.write("b.csv", "n,money,code,day,text\n1.5,\"$1,234.50\",00345,2024-03-20,two lines\n"+
		"2,$20.00,99999,2024-03-21,=1+1\n3,\"$1,000,000.00\",00001,2024-03-02,\"\"\"x\"\", y\"\n")
	s.run(0, "draft", "b.csv", "--public", "-o", "csv.json")
	s.run(0, "draft", "b.xlsx", "--sheet", "data", "--public", "-o", "xlsx.json")
	if a, b := s.read("csv.json"), s.read("xlsx.json"); a != b || !strings.Contains(a, "$1,234.5") {
		t.Errorf("the schemas differ: %s and %s", a, b)
	}
	checked := s.run(0, "check", "csv.json", "b.xlsx", "--sheet", "data", "--json").stdout
	if want := s.run(0, "check", "csv.json", "b.csv", "--json").stdout; checked != want {
		t.Errorf("got %s, want %s", checked, want)
	}
	s.oneLine(s.run(exitUsage, "check", "csv.json", "b.xlsx", "--sheet", "x"), "--sheet", `"data"`)
	s.oneLine(s.run(exitInput, "check", "csv.json", "b.xlsx"), "b.xlsx", "no header")
	s.book("wide.xlsx", []any{"n", "money", "code", "day", "text"}, []any{1, 2, 3, 4, "x", "beside"})
	s.oneLine(s.run(exitInput, "check", "csv.json", "wide.xlsx", "--sheet", "data"), "row 2",
		"6 cells", "at most 5")
}

// TestWrittenWorkbooks: a workbook holds numbers as numbers, guards texts that look like formulas,
// and is read as the CSV file of the same draw.
func TestWrittenWorkbooks(t *testing.T) {
	schema, err := records.NewSchema(records.Numeric("=n", -9, 9),
		records.Categorical("level", "=1+1", "-5", "+49 1", "@x", "'=x", "plain"),
		records.Integer("code", 0, 1<<60))
	if err != nil {
		t.Fatal(err)
	}
	frame, err := records.FromValues(schema, []any{-1.5, "=1+1", 1}, []any{0, "-5", 2},
		[]any{3, "+49 1", 3}, []any{1e-7, "@x", 4}, []any{2, "'=x", 5}, []any{5, "plain", 1<<60 - 1})
	if err != nil {
		t.Fatal(err)
	}
	parts := func(yield func(records.Data, error) bool) { yield(frame, nil) }
	var file bytes.Buffer
	if err := writeBook(&file, schema, records.CSV{Header: true}, true, parts); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{"A1": "'=n", "A2": "-1.5", "B2": "'=1+1", "B3": "-5",
		"B4": "'+49 1", "B5": "'@x", "B6": "''=x", "B7": "plain", "C7": "1152921504606846975"} {
		if got, err := f.GetCellValue("Sheet1", place); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", place, got, err, want)
		}
	}
	for place, want := range map[string]excelize.CellType{"A2": excelize.CellTypeUnset,
		"B3": excelize.CellTypeInlineString, "C7": excelize.CellTypeInlineString} {
		if got, err := f.GetCellType("Sheet1", place); got != want || err != nil {
			t.Errorf("%s: got the type %v, %v, want %v", place, got, err, want)
		}
	}
	var csv, back bytes.Buffer
	if err := (records.CSV{Header: true}).WriteFrame(&csv, frame); err != nil {
		t.Fatal(err)
	}
	d, err := readCSV("xlsx", &file, layout{}, schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := (records.CSV{Header: true}).WriteFrame(&back, d.(*records.Frame)); err != nil {
		t.Fatal(err)
	}
	if back.String() != csv.String() {
		t.Errorf("got %q, want %q", back.String(), csv.String())
	}
	var guarded bytes.Buffer
	if err := writeGuarded(&guarded, schema, records.CSV{Comma: ';'}, parts); err != nil {
		t.Fatal(err)
	}
	if got := guarded.String(); !strings.HasPrefix(got, "-1.5;'=1+1;1\n0;-5;2\n3;'+49 1;3\n") {
		t.Errorf("got %q", got)
	}
}

// TestMissingInOneColumn: a table of one column keeps its missing values, not as empty rows.
func TestMissingInOneColumn(t *testing.T) {
	schema, err := records.NewSchema(records.Integer("n", 0, 9).WithMissing())
	if err != nil {
		t.Fatal(err)
	}
	frame, err := records.FromValues(schema, []any{1}, []any{nil}, []any{nil}, []any{3})
	if err != nil {
		t.Fatal(err)
	}
	parts := func(yield func(records.Data, error) bool) { yield(frame, nil) }
	var book, text bytes.Buffer
	err = errors.Join(writeBook(&book, schema, records.CSV{Header: true}, true, parts),
		writeGuarded(&text, schema, records.CSV{Header: true}, parts))
	if err != nil {
		t.Fatal(err)
	}
	for format, in := range map[string]io.Reader{"xlsx": &book, "csv": &text} {
		d, err := readCSV(format, in, layout{comma: "auto", encoding: "auto"}, schema)
		if err != nil || d.Len() != 4 || d.(*records.Frame).Value(1, 0) != "" {
			t.Errorf("%s: got %v, %v", format, d, err)
		}
	}
}

// TestDamagedWorkbooks: a workbook that is cut, changed or no workbook is refused; it never causes
// a panic, and never loses rows silently.
func TestDamagedWorkbooks(t *testing.T) {
	s := newSession(t)
	var rows [][]any
	for i := range 8 {
		rows = append(rows, []any{"a" + string(rune('0'+i)), i, i})
	}
	s.book("b.xlsx", rows...)
	schema, err := records.NewSchema(records.Integer("1", 0, 9))
	if err != nil {
		t.Fatal(err)
	}
	whole := s.read("b.xlsx")
	read := func(text string) (int, error) {
		d, err := readCSV("xlsx", strings.NewReader(text), layout{noHeader: true, sheet: "data",
			names: []string{"x", "1", "y"}}, schema)
		if err != nil {
			return 0, err
		}
		return d.Len(), nil
	}
	if n, err := read(whole); n != 8 || err != nil {
		t.Fatalf("got %d records, %v", n, err)
	}
	cut := changed(t, whole, func(text string) string {
		return text[:strings.LastIndex(text, "<row")]
	})
	swapped := changed(t, whole, func(text string) string {
		return strings.NewReplacer(`r="B2"`, `r="C2"`, `r="C2"`, `r="B2"`).Replace(text)
	})
	crossed := changed(t, whole, func(text string) string {
		return strings.Replace(text, "</row>", "</cow>", 1)
	})
	// in each row 16,383 empty cells before the last, or 1,899, which take a few bytes of the file
	after := func(column string) string {
		return changed(t, whole, func(text string) string {
			const cell = `<row><c r="%s%d" t="inlineStr"><is><t> </t></is></c></row>`
			var rows strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&rows, cell, column, i+9)
			}
			return strings.Replace(text, "</sheetData>", rows.String()+"</sheetData>", 1)
		})
	}
	far, late := after("XFD"), after("BTB")
	if n, err := read(after("BL")); n != 8 || err != nil { // blank rows
		t.Errorf("63 empty cells in 1,000 rows: got %d records, %v", n, err)
	}
	texts := rewritten(t, whole, func(name, text string) (string, string) {
		return name, strings.Replace(text, "</sst>", strings.Repeat("<si/>", 200_000)+"</sst>", 1)
	})
	rowsWithoutCells := changed(t, whole, func(text string) string {
		return strings.Replace(text, "</sheetData>", strings.Repeat("<row/>", 60_000)+"</sheetData>", 1)
	})
	formats := rewritten(t, whole, func(name, text string) (string, string) {
		return name, strings.Replace(text, "</cellXfs>", strings.Repeat(`<xf numFmtId="14"/>`, 60_000)+
			"</cellXfs>", 1)
	})
	const inCell, short = `<row><c r="A%d" t="s"><v>%d</v></c><c t="s"><v>%[2]d</v></c></row>`, 30_000
	repeated := func(length, uses int) string { // a text of the list that many cells use
		book := changed(t, whole, func(text string) string {
			var rows strings.Builder
			for i := range uses {
				fmt.Fprintf(&rows, inCell, i+9, 12)
			}
			return strings.Replace(text, "</sheetData>", rows.String()+"</sheetData>", 1)
		})
		return rewritten(t, book, func(name, text string) (string, string) {
			more := strings.Repeat("<si><t>y</t></si>", 4) + "<si><t>" + strings.Repeat("x", length)
			return name, strings.Replace(text, "</sst>", more+"</t></si></sst>", 1)
		})
	}
	if n, err := read(repeated(short, 50)); n != 8+50 || err != nil {
		t.Errorf("a long text in 50 rows: %d records, %v", n, err)
	}
	format := rewritten(t, whole, func(name, text string) (string, string) {
		return name, strings.Replace(text, "<cellXfs", `<numFmts><numFmt numFmtId="200" formatCode="`+
			strings.Repeat("0", 2000)+`"/></numFmts><cellXfs`, 1)
	})
	other := renamed(t, whole)
	if n, err := read(other); n != 8 || err != nil {
		t.Errorf("a sheet of another name: got %d records, %v", n, err)
	}
	for name, text := range map[string]string{"cut": cut, "swapped": swapped, "crossed": crossed,
		"far": far, "late": late, "texts": texts, "format": format,
		"rows without cells": rowsWithoutCells, "many formats": formats,
		"a very long text":         repeated(200_000, 1),
		"a long text in many rows": repeated(short, 1000),
		"and with divided numbers": changed(t, repeated(short, 1000), func(text string) string {
			return strings.ReplaceAll(text, "<v>12</v>", "<v>1<!-- -->2</v>")
		}),
		"crossed, of another name": renamed(t, crossed), "empty": "",
		"half": whole[:len(whole)/2], "text": "a,b\n1,2\n"} {
		if n, err := read(text); err == nil {
			t.Errorf("%s: got %d records", name, n)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		text := []byte(whole)
		for range 1 + rng.IntN(4) {
			text[rng.IntN(len(text))] ^= byte(1 << rng.IntN(8))
		}
		if n, err := read(string(text)); err == nil && n != 8 {
			t.Errorf("got %d records of a damaged workbook", n)
		}
	}
}

// changed returns a workbook whose second sheet is changed.
func changed(t *testing.T, book string, change func(string) string) string {
	t.Helper()
	return rewritten(t, book, func(name, text string) (string, string) {
		if !strings.HasSuffix(name, "sheet2.xml") {
			return name, text
		}
		other := change(text)
		if other == text {
			t.Fatal("nothing was changed")
		}
		return name, other
	})
}

// renamed returns a workbook whose second sheet is a part of another name.
func renamed(t *testing.T, book string) string {
	t.Helper()
	return rewritten(t, book, func(name, text string) (string, string) {
		return strings.ReplaceAll(name, "sheet2.xml", "data.xml"),
			strings.ReplaceAll(text, "sheet2.xml", "data.xml")
	})
}

// rewritten returns a workbook with other parts.
func rewritten(t *testing.T, book string, to func(name, text string) (string, string)) string {
	t.Helper()
	in, err := zip.NewReader(strings.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name, text := to(f.Name, string(content))
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLongNumbersOfWorkbooks: persons whose numbers have more digits than a sheet shows are
// different persons. If two were one, removing one of them would change the record of the other.
func TestLongNumbersOfWorkbooks(t *testing.T) {
	book := excelize.NewFile()
	defer book.Close()
	scientific, err := book.NewStyle(&excelize.Style{NumFmt: 11})
	if err != nil {
		t.Fatal(err)
	}
	names := []any{1234567890123456788, 1234567890123456789, "a", 12, 123456789013, 123456789012,
		"1234567890123456789", -90071992547409931, -90071992547409932,
		"12E+5", 1200000}
	for i, row := range append([]any{"name"}, names...) {
		value := "y"
		if i == 0 {
			value = "x" // the name of the other column
		}
		if err := book.SetSheetRow("Sheet1", fmt.Sprint("A", i+1), &[]any{row, value}); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.SetCellStyle("Sheet1", "A6", "A7", scientific); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := book.Write(&file); err != nil {
		t.Fatal(err)
	}
	s, err := records.NewSchema(records.Categorical("x", "x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	l := layout{comma: "auto", encoding: "auto", person: "name"}
	doubles := strings.NewReplacer("<v>123456789013</v>", "<v>1.23456789013E11</v>",
		"<v>123456789012</v>", "<v>1.23456789012E11</v>") // as other programs spell them
	for _, to := range []*strings.Replacer{strings.NewReplacer(), doubles} {
		book := rewritten(t, file.String(), func(name, text string) (string, string) {
			return name, to.Replace(text)
		})
		d, err := readCSV("xlsx", strings.NewReader(book), l, s.ByPerson(2))
		if err != nil {
			t.Fatal(err)
		}
		if want := len(names) - 1; d.Len() != want { // one name is there as a number and as a text
			t.Errorf("%d persons, want %d", d.Len(), want)
		}
	}
}

// TestSheetsKeepEveryRecord: a record of missing values only, a missing value beside a level that
// usually means one, and a text that looks guarded come back from a sheet, with and without guard.
func TestSheetsKeepEveryRecord(t *testing.T) {
	two, err := records.NewSchema(records.Categorical("a", "?", "'=x").WithMissing(),
		records.Integer("n", 0, 9).WithMissing())
	if err != nil {
		t.Fatal(err)
	}
	one, err := records.NewSchema(two.Columns()[0])
	if err != nil {
		t.Fatal(err)
	}
	l := layout{comma: "auto", encoding: "auto"}
	c, err := l.csv()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []records.Schema{one, two} {
		columns := len(s.Columns())
		f, err := records.FromValues(s, []any{"?", 1}[:columns], []any{nil, nil}[:columns],
			[]any{"'=x", nil}[:columns])
		if err != nil {
			t.Fatal(err)
		}
		for _, guard := range []bool{false, true} {
			var file bytes.Buffer
			parts := func(yield func(records.Data, error) bool) { yield(f, nil) }
			if err := writeBook(&file, s, c, guard, parts); err != nil {
				t.Fatal(err)
			}
			d, err := readCSV("xlsx", &file, l, s)
			if err != nil {
				t.Fatal(err)
			}
			back, _ := records.AsFrame(d)
			if back.Len() != f.Len() {
				t.Fatalf("%d columns, guard %v: %d records, want %d", columns, guard, back.Len(), f.Len())
			}
			for i := range f.Len() {
				if got, want := back.Value(i, 0), f.Value(i, 0); got != want {
					t.Errorf("%d columns, guard %v: got %q, want %q", columns, guard, got, want)
				}
			}
		}
	}
}
