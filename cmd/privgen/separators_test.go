package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// bank returns a table as a bank may export it: separated by semicolons, with days before months,
// commas in numbers, signs of money and of per cent, and codes with leading zeros.
func bank(rows int) string {
	var b strings.Builder
	b.WriteString("account;opened;balance;rate;active\n")
	for i := range rows {
		fmt.Fprintf(&b, "%08d;%02d/%02d/2024;$%d,%03d.50;%d%%;%s\n", 345839+7*i, 1+i%28, 1+i%12, 1+i%90,
			i%1000, i%101, []string{"Yes", "no", "NO"}[i%3])
	}
	return b.String()
}

// TestMessyTables drafts, fits and samples such a table without a hand. The samples have the forms
// of the texts that were read.
func TestMessyTables(t *testing.T) {
	s := newSession(t)
	s.write("bank.csv", bank(600))
	e := s.run(0, "draft", "bank.csv", "--public", "-o", "s.json")
	for _, want := range []string{"separated by ';'", `"account": identifiers`, "form 02/01/2006",
		"form $1,234.00", "form 1234%", "yes or no"} {
		if !strings.Contains(plain(e.stderr), want) {
			t.Errorf("the notes of draft lack %q: %s", want, e.stderr)
		}
	}
	s.run(0, "plan", "s.json", "--records", "600", "--system", "mst", "--epsilon", "2", "-o", "p.json")
	s.run(0, "fit", "p.json", "bank.csv", "--ledger", "l", "--new-ledger", "-o", "g.gen")
	s.run(0, "sample", "g.gen", "-n", "300", "--comma", ";", "-o", "out.csv")
	s.run(0, "draft", "out.csv", "--public", "-o", "again.json")
	first, second := s.read("s.json"), s.read("again.json")
	for _, format := range []string{`"format": "02/01/2006"`, `"format": "$1,234.00"`,
		`"format": "1234%"`, `"rule": "pattern:########"`} {
		if !strings.Contains(first, format) || !strings.Contains(second, format) {
			t.Errorf("the records have %s, the samples have not:\n%s", format, second)
		}
	}
}

// TestEncodings reads files that are not UTF-8, and names the option that reads them.
func TestEncodings(t *testing.T) {
	s := newSession(t)
	text := "naïve;n\n1;2\n3;5\n"
	s.write("utf8.csv", "\ufeff"+text)
	var wide strings.Builder
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		wide.Write([]byte{byte(u), byte(u >> 8)})
	}
	s.write("utf16.csv", wide.String())
	s.write("latin.csv", strings.ReplaceAll(text, "ï", "\xef"))
	draft := func(code int, file string, more ...string) ended {
		return s.run(code, append([]string{"draft", file, "--public", "-o", file + ".json"}, more...)...)
	}
	draft(0, "utf8.csv")
	draft(0, "utf16.csv")
	s.oneLine(draft(exitInput, "latin.csv"), "latin.csv: the header is not UTF-8",
		"--encoding latin-1")
	draft(0, "latin.csv", "--encoding", "latin-1")
	s.write("cells.csv", "city,n\nK\xf6ln,1\nBonn,2\n")
	s.oneLine(draft(exitInput, "cells.csv"), "line 2 is not UTF-8: want --encoding latin-1")
	want := s.read("utf8.csv.json")
	if !strings.Contains(want, "naïve") || s.read("utf16.csv.json") != want ||
		s.read("latin.csv.json") != want {
		t.Errorf("the schemas differ: %s", want)
	}
	s.oneLine(draft(exitUsage, "utf8.csv", "--encoding", "x"), "--encoding")
}

// TestSeparatorsOfPrivateFiles: without a header nothing of the file decides how it is read.
func TestSeparatorsOfPrivateFiles(t *testing.T) {
	s := newSession(t)
	s.write("s.json", `{"kind":"table","columns":[{"name":"a","type":"integer","lo":0,"hi":9},`+
		`{"name":"b","type":"integer","lo":0,"hi":9}]}`)
	for name, sign := range map[string]string{"comma": ",", "bar": "|", "tab": "\t",
		"semicolon": ";"} {
		s.write(name+".csv", "b"+sign+"a"+sign+"c\n1"+sign+"2"+sign+"x\n")
		e := s.run(0, "check", "s.json", name+".csv")
		if strings.Contains(e.stdout, "1 of 1") {
			t.Errorf("%s: %s", name, e.stdout)
		}
	}
	for _, text := range []string{"sep=;\nb;a;c\n1;2;x\n", "\ufeffsep=#\r\nb#a#c\r\n1#2#x\r\n"} {
		s.write("excel.csv", text)
		if got := s.run(0, "check", "s.json", "excel.csv").stdout; !strings.HasPrefix(got, "1 records") ||
			!strings.Contains(got, "2 of 2") {
			t.Errorf("%q: %s", text, got)
		}
	}
	s.write("excel.csv", "sep=;\nb;a\n1;2\n3\n")
	s.oneLine(s.run(exitInput, "check", "s.json", "excel.csv"), "line 4 has 1 field")
	s.write("none.csv", "1;2\n3;4\n")
	s.run(exitInput, "check", "s.json", "none.csv", "--no-header")
	s.run(0, "check", "s.json", "none.csv", "--no-header", "--comma", ";")
	s.write("mark.csv", "\xff\xfe1,2\n3,4\n5,6\n") // a first record that begins like UTF-16
	if got := s.run(0, "check", "s.json", "mark.csv", "--no-header", "--lines"); !strings.HasPrefix(
		got.stdout, "3 records") {
		t.Error(got.stdout)
	}
}
