package main

import (
	"bufio"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// strictly returns what the strict reader makes of a text.
func strictly(text string, want int) (string, error) {
	out, err := io.ReadAll(newStrict(bufio.NewReaderSize(strings.NewReader(text), 16), ',', '#', want))
	return string(out), err
}

// TestOneRecordIsOneLine: a record with line breaks within quotes becomes one line, and everything
// else stays as it is.
func TestOneRecordIsOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"a,b\n1,2\n":                       "a,b\n1,2\n",
		"a,b\r\n1,2":                       "a,b\r\n1,2",
		"\ufeffa,b\n1,2\n":                 "a,b\n1,2\n",
		"a,b\n\"x\ny\",2\n3,4\n":           "a,b\n\"x y\",2\n3,4\n",
		"a,b\n\"x\r\n\r\ny\",\"\n\"\r\n":   "a,b\n\"x  y\",\" \"\r\n",
		"a,b\n\"x\"\"\n\"\"y\",2\n":        "a,b\n\"x\"\" \"\"y\",2\n",
		"a,b\n\"1,\n2\",\"\"\n\n# c\n":     "a,b\n\"1, 2\",\"\"\n",
		"a,b\n # 1, \"2\" \n  \n\"#\n\",4": "a,b\n # 1, \"2\" \n\"# \",4",
		"\"a\nb\",c\n1,2\n":                "\"a b\",c\n1,2\n",
		"":                                 "",
	} {
		if got, err := strictly(in, 0); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
}

// TestMalformedFiles: a file that is not well-formed is refused with its line, what was seen and
// what mends it, and without any text of it.
func TestMalformedFiles(t *testing.T) {
	long := strings.Repeat("0123456789\n", mostRecord/11+2)
	for _, c := range []struct {
		in   string
		want int
		says []string
	}{
		{"a,b\n1,2\nsecret\n3,4\n", 0, []string{"line 3 has 1 field:", "want 2", "--lines"}},
		{"a,b\n\"x\ny\",2\nsecret,2,3\n", 0, []string{"line 4 has 3 fields", "want 2"}},
		{"1,secret\n", 3, []string{"line 1 has 2 fields", "want 3"}},
		{"a\n" + strings.Repeat("1,secret\n", 9), 0, []string{"line 6 has 2 fields", "4 more lines"}},
		{"a,b\n1,\"secret\n3,4\n", 0, []string{"opened on line 2 is never closed"}},
		{"a,b\n1,\"" + long, 0, []string{"opened on line 2 is not closed within"}},
		{"a,b\n1," + strings.ReplaceAll(long, "\n", "x"), 0, []string{"line 2 is longer than"}},
		{"a,b\n1,\"secret\" x\n", 0, []string{"line 2 has text after a quoted field"}},
		{"a,b\n1,secret\"\n", 0, []string{"line 2 has a quote within a field that is not in quotes"}},
		{"a,b\rsecret,2\r", 0, []string{"line 1 has a carriage return", "line feeds"}},
		{"a,b\nx\r,\"secret\"\n", 0, []string{"line 2 has a carriage return"}},
		{"a,b\nsecret\xe9,1\n", 0, []string{"line 2 is not UTF-8", "--encoding latin-1"}},
	} {
		_, err := strictly(c.in, c.want)
		if err == nil {
			t.Errorf("%.40q is accepted", c.in)
			continue
		}
		for _, text := range c.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%.40q: got %v, want %q", c.in, err, text)
			}
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%v holds a text of the file", err)
		}
	}
	in := newStrict(bufio.NewReader(iotest.ErrReader(io.ErrClosedPipe)), 0, 0, 0)
	if _, err := io.ReadAll(in); err != io.ErrClosedPipe {
		t.Errorf("got %v, want the reader's own error", err)
	}
}

// FuzzStrict: what the strict reader accepts has the records that the reader of the standard
// library finds, with line breaks as blanks, and each is on one line.
func FuzzStrict(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "a,\"b\nc\"\r\n1,\"\"\"\"\n", "\"\n\"",
		"a\n\"\r\n x\"\n\n",
		"a,\"b\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := strictly(text, 0)
		if err != nil || strings.ContainsAny(text, " #\t\v\f\r\u0085\u00a0\ufeff") {
			return // blanks and comments are the readers' own, and so is a carriage return in quotes
		}
		in := csv.NewReader(strings.NewReader(text))
		want, err := in.ReadAll()
		if err != nil {
			t.Fatalf("%q is accepted: %v", text, err)
		}
		for _, row := range want {
			for i := range row {
				row[i] = strings.ReplaceAll(row[i], "\n", " ")
			}
		}
		var rows [][]string
		for line := range strings.Lines(got) {
			if fields, err := csv.NewReader(strings.NewReader(line)).Read(); err == nil {
				rows = append(rows, fields)
			}
		}
		blank := func(row []string) bool { return len(row) == 1 && strings.TrimSpace(row[0]) == "" }
		rows, want = slices.DeleteFunc(rows, blank), slices.DeleteFunc(want, blank)
		if len(rows) != len(want) {
			t.Fatalf("%q: got %q, want %q", text, rows, want)
		}
		for i := range rows {
			if !slices.Equal(rows[i], want[i]) {
				t.Fatalf("%q: got %q, want %q", text, rows[i], want[i])
			}
		}
	})
}

// TestNotesWithLineBreaks: each record of a table with quoted line breaks counts once. A malformed
// one is refused before the ledger is touched, and --lines reads it.
func TestNotesWithLineBreaks(t *testing.T) {
	s := newSession(t)
	s.write("s.json", `{"kind":"table","columns":[{"name":"a","type":"integer","lo":0,"hi":9},`+
		`{"name":"note","type":"categorical","levels":["one two","x"]}]}`)
	s.write("good.csv", "a,note\n"+strings.Repeat("3,\"one\ntwo\"\n", 20))
	got := decode[checkResult](t, s.run(0, "check", "s.json", "good.csv", "--json").stdout)
	if got.Records != 20 || got.Columns[0].Strays+got.Columns[1].Strays != 0 {
		t.Errorf("got %+v, want 20 records in the schema", got)
	}
	s.run(0, "plan", "s.json", "--records", "20", "--system", "mst", "--anyway", "-o", "p.json")
	s.write("bad.csv", "a,note\n1,x\n2,x\n3,private,x\n")
	fit := []string{"fit", "p.json", "bad.csv", "--ledger", "l", "--new-ledger", "-o", "g.gen"}
	e := s.run(exitInput, fit...)
	s.oneLine(e, "bad.csv: line 4 has 3 fields: want 2", "--lines", "do not publish")
	if strings.Contains(e.stderr, "private,") || exists(s.path("ledgers/l")) {
		t.Errorf("the ledger was touched, or the error holds a value: %s", e.stderr)
	}
	s.run(exitInput, append(fit, "-q")...)
	if e := s.run(0, append(fit, "--lines")...); !strings.Contains(e.stderr, "each line") {
		t.Errorf("--lines does not say that lines are protected: %s", e.stderr)
	}
	s.write("head.csv", "\"the\nnote\";b;c\n1;2;3\n4;5;6\n")
	s.run(0, "draft", "head.csv", "--public", "-o", "head.json")
	if text := s.read("head.json"); !strings.Contains(text, `"the note"`) ||
		!strings.Contains(text, `"c"`) {
		t.Errorf("a header of two lines is read as %s", text)
	}
}
