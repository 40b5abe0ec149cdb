package records_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// pets returns a small table with a missing value and an alias.
func pets(t testing.TB) records.Schema {
	t.Helper()
	return must(records.NewSchema(records.Integer("age", 0, 30).WithMissing(),
		records.Categorical("kind", "cat", "dog", "other").WithOther("other"),
		records.Numeric("kg", 0, 90),
		records.Label("home", "no", "yes").WithAlias("yes", "yes.", "Y")))(t)
}

// cellsOf returns the texts of a frame.
func cellsOf(f *records.Frame) string {
	var rows []string
	for i := range f.Len() {
		var row []string
		for j := range f.Schema().Columns() {
			row = append(row, f.Value(i, j))
		}
		rows = append(rows, strings.Join(row, ","))
	}
	return strings.Join(rows, ";")
}

func TestFramesAreReadFromManyLayouts(t *testing.T) {
	const want = "3,cat,4.5,yes;,other,0,no"
	for name, c := range map[string]struct {
		layout records.CSV
		text   string
	}{
		"by position":  {records.CSV{}, "3,cat,4.5,yes\n,bird,?,no\n"},
		"blanks, dots": {records.CSV{}, " 3, cat , 4.5, yes. \r\n\r\n?,bird, ,no\r\n\n"},
		"quotes": {records.CSV{},
			"\"3\", \"cat\" ,\"4.5\",\"Y\"\n\"\",\"a \"\"bird\"\"\",\"x\",\"no\""},
		"a header": {records.CSV{Header: true},
			"kg,home,x,kind,age\n4.5,yes,1,cat,3\n,no,2,bird,\n"},
		"a marked header": {records.CSV{Header: true},
			"\ufeff\"age\",kind , kg,home\n3,cat,4.5,yes\n,bird,,no\n"},
		"names": {records.CSV{Names: []string{"", "home", "kg", "", "kind", "age"}},
			"a,yes,4.5,b,cat,3\na,no,,b,bird,\n"},
		"names for header": {records.CSV{Header: true, Names: []string{"age", "kind", "kg", "home"}},
			"a,b,c,d\n3,cat,4.5,yes\n,bird,,no\n"},
		"tabs":          {records.CSV{Comma: '\t'}, "3\tcat\t4.5\tyes\n\tbird\t\tno\n"},
		"a comment":     {records.CSV{Comment: '|'}, "|1x3 validator\n3,cat,4.5,yes\n|\n,bird,,no\n"},
		"missing texts": {records.CSV{Missing: []string{"-1", "n/a"}}, "3,cat,4.5,yes\n-1,bird,n/a,no\n"},
		"blank lines":   {records.CSV{}, "\n3,cat,4.5,yes\n   \n,bird,,no\n \t\n"},
	} {
		for how, text := range map[string][]byte{"plain": []byte(c.text), "gzip": gz([]byte(c.text))} {
			f, err := c.layout.ReadFrame(bytes.NewReader(text), pets(t))
			if err != nil {
				t.Errorf("%s, %s: got error %v, want none", name, how, err)
				continue
			}
			if got := cellsOf(f); got != want {
				t.Errorf("%s, %s: got wrong cells %s", name, how, got)
			}
		}
	}
}

func TestWhatIsNoFileOfTheTable(t *testing.T) {
	for text, layout := range map[string]records.CSV{
		"":                                  {Header: true},
		"age,kind,kg\n":                     {Header: true},
		"age,kind,kg,home,age\n1,2,3,4,5\n": {Header: true},
		"\"age,kind,kg,home\n1,2,3,4\n":     {Header: true},
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03": {},
		"1,2,3,4\n": {Names: []string{"age", "kind", "kg", "Home"}},
	} {
		if _, err := layout.ReadFrame(strings.NewReader(text), pets(t)); !errors.Is(err,
			records.ErrFormat) {
			t.Errorf("%q: got error %v, want ErrFormat", text, err)
		}
	}
	var shape *param.Error
	for _, layout := range []records.CSV{{Comma: '"'}, {Comment: ','},
		{Names: []string{"a", "a"}}} {
		if _, err := layout.ReadFrame(strings.NewReader(""), pets(t)); !errors.As(err, &shape) {
			t.Errorf("%+v: got error %v, want *param.Error", layout, err)
		}
	}
}

// TestRowsThatCannotBeRead: each unreadable line becomes a separate neutral record, which Check
// reports.
func TestRowsThatCannotBeRead(t *testing.T) {
	for _, line := range []string{"1,cat,2", "1,cat,2,yes,5", "\"1,cat,2,yes", "1,c\"at,2,yes",
		"1,\"cat\"x,2,yes", "\x1f\x8b", "x"} {
		text := line + "\n4,dog,5,yes\n" + line + "\n6,dog,7,yes\n" + line
		f := must(records.CSV{}.ReadFrame(strings.NewReader(text), pets(t)))(t)
		want := ",other,0,no;4,dog,5,yes;,other,0,no;6,dog,7,yes;,other,0,no"
		if line == "1,c\"at,2,yes" { // a quote inside a field is part of it
			want = strings.ReplaceAll(want, ",other,0,no", "1,other,2,yes")
		}
		if got := cellsOf(f); got != want {
			t.Errorf("%q: got wrong cells %s", line, got)
		}
		if err := records.Check(f); err == nil || !strings.Contains(err.Error(), "row 2") ||
			strings.Contains(err.Error(), "row 1") {
			t.Errorf("%q: Check returns %v", line, err)
		}
	}
}

// TestAHeaderThatIsNotDeclared: a header that the CSV value does not declare is an error before any
// record is kept, and a record is not mistaken for a header.
func TestAHeaderThatIsNotDeclared(t *testing.T) {
	s, dense := pets(t), records.Interval(2, 0, 9).WithLabels("a", "b")
	const row = "3,cat,4.5,yes\n"
	for _, head := range []string{"age,kind,kg,home\n", "\ufeff\nAge (years),Kind,weight_kg,Home\n",
		"\"alter\", art ,_,heim\n"} {
		_, err := records.CSV{}.ReadFrame(strings.NewReader(head+row), s)
		if !errors.Is(err, records.ErrFormat) || !strings.Contains(err.Error(), "CSV.Header") ||
			strings.Contains(err.Error(), "age") {
			t.Errorf("%q: got error %v, want ErrFormat that names CSV.Header but not the column", head, err)
		}
		for _, err := range (records.CSV{}).Stream(strings.NewReader(head+row), s, 5) {
			if !errors.Is(err, records.ErrFormat) {
				t.Errorf("%q in parts: got error %v, want ErrFormat", head, err)
			}
		}
		f, err := records.CSV{FirstRecord: true}.ReadFrame(strings.NewReader(head+row), s)
		if err != nil || f.Len() != 2 {
			t.Errorf("%q as a record: got error %v, want 2 records", head, err)
		}
	}
	// A line is a record if it holds a number, a level or a missing value, lacks a field, has wrong
	// quotes or is not the first line.
	for _, line := range []string{"1,kind,kg,home", "age,cat,kg,home", "age,kind,kg,yes",
		"age,kind,?,home", "age,kind,NA,home",
		"age,kind,1e999,home", "age,kind,nan,home", "age,kind,kg", "\"age,kind,kg,home",
		"#,kind,%,home"} {
		if f, err := (records.CSV{}).ReadFrame(strings.NewReader(line+"\n"+row), s); err != nil ||
			f.Len() != 2 {
			t.Errorf("%q: got error %v, want 2 records", line, err)
		}
	}
	if f, err := (records.CSV{}).ReadFrame(strings.NewReader(row+"age,kind,kg,home\n"), s); err !=
		nil || f.Len() != 2 {
		t.Errorf("names at the end: got error %v, want 2 records", err)
	}
	if _, err := (records.CSV{}).Read(strings.NewReader("x1,x2,class\n1,2,a\n"),
		dense); !errors.Is(err, records.ErrFormat) {
		t.Errorf("vectors: got error %v, want ErrFormat", err)
	}
	for _, line := range []string{"x1,x2,a", "x1,2,class", "x1,x2", "x1,,class"} {
		if v, err := (records.CSV{}).Read(strings.NewReader(line+"\n1,2,a\n"), dense); err != nil ||
			v.Len() != 2 {
			t.Errorf("%q: got error %v, want 2 records", line, err)
		}
	}
	levels := must(records.NewSchema(records.Categorical("a", "x", "y"),
		records.Flag("b", "no", "yes")))(t)
	if f, err := (records.CSV{}).ReadFrame(strings.NewReader("a,b\nx,no\n"), levels); err != nil ||
		f.Len() != 2 {
		t.Errorf("without a column of numbers: got error %v, want 2 records", err)
	}
}

func TestFramesComeBackFromEveryLayout(t *testing.T) {
	s := people(t)
	f := must(records.FromValues(s,
		[]any{1.5, nil, 40, nil, "some, a bit", nil, `"self"`, ">50K", nil, "Male", nil},
		[]any{0.1 + 0.2, 1e-7, 17, -3, "none", "XL", "none", "<=50K", "#x", "Female", "no"},
		[]any{123456.75, 9e4, 90, 20, "all", "S", "private", ">50K", "Köln", "Male", "yes"}))(t)
	names := []string{"x", "smokes"}
	for _, c := range s.Columns() {
		if c.Name() != "smokes" {
			names = append(names, c.Name())
		}
	}
	for _, c := range []records.CSV{{}, {Header: true}, {Comma: ';', Header: true}, {Comma: '\t'},
		{Comment: '"' + 1}, {Comment: '1'},
		{Names: names}, {Names: names, Header: true}, {Missing: []string{"?", "NA"}},
		{Missing: []string{"missing", "?"}, Comma: 'é'}} {
		if back := throughCSV(t, c, f); !sameFrame(f, back) {
			t.Errorf("%+v: wrongly read back as %s", c, cellsOf(back))
		}
	}
	var out bytes.Buffer
	if err := (records.CSV{Missing: []string{"?"}}).WriteFrame(&out, f); err == nil {
		t.Error("a missing value is written as a level")
	}
	if err := (records.CSV{Names: names[2:]}).WriteFrame(&out, f); err == nil {
		t.Error("a file without one of the schema's columns is written")
	}
}

func TestWrittenFramesAreQuoted(t *testing.T) {
	s := must(records.NewSchema(records.Categorical("a", `x"y`, "p,q", "#z").WithMissing(),
		records.Numeric("b", 0, 1)))(t)
	var out bytes.Buffer
	f := must(records.FromValues(s, []any{`x"y`, 0}, []any{"p,q", 1}, []any{nil, .5},
		[]any{"#z", 0}))(t)
	if err := (records.CSV{Header: true, Comment: '#'}).WriteFrame(&out, f); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "a,b\n\"x\"\"y\",0\n\"p,q\",1\n,0.5\n\"#z\",0\n" {
		t.Errorf("got %q, want other quotes or cells", got)
	}
	lone := must(records.NewSchema(records.Numeric("a", 0, 1).WithMissing()))(t)
	if back := throughCSV(t, records.CSV{},
		must(records.FromValues(lone, []any{nil}, []any{1}))(t)); cellsOf(back) != ";1" {
		t.Errorf("a lone missing value is read back as %s", cellsOf(back))
	}
}

func TestStreamsAreTheFile(t *testing.T) {
	var text strings.Builder
	for i := range 25 {
		fmt.Fprintf(&text, "%d,dog,%d,yes\n", i, i)
	}
	s := pets(t)
	var parts []records.Data
	var sizes []int
	for f, err := range (records.CSV{}).Stream(strings.NewReader(text.String()), s, 10) {
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, f)
		sizes = append(sizes, f.Len())
	}
	whole := must(records.CSV{}.ReadFrame(strings.NewReader(text.String()), s))(t)
	if !slices.Equal(sizes, []int{10, 10, 5}) ||
		!sameFrame(whole, must(records.Concat(s, parts...))(t).(*records.Frame)) {
		t.Errorf("got parts of %v rows, want 10, 10 and 5 with the same records", sizes)
	}
	for range (records.CSV{}).Stream(strings.NewReader(text.String()), s, 5) {
		break // stopping early must not fail
	}
	rows, fault := 0, error(nil)
	broken := io.MultiReader(strings.NewReader(text.String()), iotest.ErrReader(io.ErrClosedPipe))
	for f, err := range (records.CSV{}).Stream(broken, s, 10) {
		if fault = err; err == nil {
			rows += f.Len()
		}
	}
	if rows != 20 || !errors.Is(fault, io.ErrClosedPipe) {
		t.Errorf("got %d rows and error %v, want 20 rows and the reader's error", rows, fault)
	}
	for _, err := range (records.CSV{}).Stream(strings.NewReader(""), s, 0) {
		if err == nil {
			t.Error("Stream accepts frames of 0 rows")
		}
	}
	for f := range (records.CSV{}).Stream(strings.NewReader(""), s, 5) {
		t.Errorf("an empty file has %d rows", f.Len())
	}
}

func TestPartsPassOnWhatComes(t *testing.T) {
	s := pets(t)
	rows, fault := 0, error(nil)
	broken := io.MultiReader(strings.NewReader("1,cat,2,yes\n2,dog,3,no\n"),
		iotest.ErrReader(io.ErrClosedPipe))
	for part, err := range records.Parts(records.CSV{}.Stream(broken, s, 1)) {
		if fault = err; err == nil {
			rows += part.Len()
		} else if part != nil {
			t.Error("an error comes with a part")
		}
	}
	if rows != 2 || !errors.Is(fault, io.ErrClosedPipe) {
		t.Errorf("got %d rows and error %v, want 2 rows and the reader's error", rows, fault)
	}
	for range records.Parts(
		records.CSV{}.Stream(strings.NewReader("1,cat,2,yes\n2,dog,3,no\n"), s, 1)) {
		break // stopping early must not fail
	}
}

// lines is a reader of n copies of a row.
type lines struct {
	row  string
	n    int
	rest string
}

func (l *lines) Read(p []byte) (int, error) {
	if l.rest == "" {
		if l.n == 0 {
			return 0, io.EOF
		}
		k := min(l.n, 512)
		l.n -= k
		l.rest = strings.Repeat(l.row, k)
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

var longStream = flag.Bool("ten-million", false, "stream ten million rows of fifty columns")

// TestStreamingTakesConstantMemory reads far more rows than one part holds.
func TestStreamingTakesConstantMemory(t *testing.T) {
	n, columns := 60_000, []records.Column{}
	if *longStream {
		n = 10_000_000
	}
	var row []string
	for i := range 50 {
		name := fmt.Sprintf("c%d", i)
		if i%2 == 0 {
			columns, row = append(columns, records.Numeric(name, 0, 100)), append(row, "12.25")
		} else {
			columns, row = append(columns, records.Categorical(name, "a", "b", "c")), append(row, "b")
		}
	}
	s := must(records.NewSchema(columns...))(t)
	in := &lines{row: strings.Join(row, ",") + "\n", n: n}
	rows, most := 0, uint64(0)
	var m runtime.MemStats
	for f, err := range (records.CSV{}).Stream(in, s, 1000) {
		if err != nil {
			t.Fatal(err)
		}
		if rows += f.Len(); rows%(n/10) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	t.Logf("%d rows, at most %d MB live", rows, most>>20)
	if rows != n || most > 64<<20 {
		t.Errorf("got %d rows and %d MB live, want all rows and at most 64 MB", rows, most>>20)
	}
}

func TestPartsOfAnotherSchemaAreNotWritten(t *testing.T) {
	f := must(records.FromValues(pets(t), []any{1, "cat", 2, "yes"}))(t)
	fault := errors.New("no more")
	for want, parts := range map[string]func(func(records.Data, error) bool){
		"WriteFrames": func(yield func(records.Data, error) bool) { yield(f.WithoutLabels(), nil) },
		"no more": func(yield func(records.Data, error) bool) {
			_ = yield(f, nil) && yield(nil, fault)
		},
	} {
		if err := (records.CSV{}).WriteFrames(io.Discard, pets(t), parts); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	if err := (records.CSV{}).WriteFrame(failing{}, f); err == nil {
		t.Error("WriteFrame returns no error of the writer")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func FuzzReadFrame(f *testing.F) {
	s := people(f)
	f.Add([]byte("1,2,3,4,none,S,none,>50K.,?,Male,yes\n"), false)
	f.Add([]byte("\ufeff\"1\", x,NaN,-inf,\"some, a bit\",,,,,,\r\n\n |\n"), false)
	var names []string
	for _, c := range s.Columns() {
		names = append(names, c.Name())
	}
	header := strings.Join(names, ",") + ",extra\n"
	f.Add([]byte(header+"1,2,3,4,none,S,none,>50K.,?,Male,yes,0\n"), true)
	f.Add(gz([]byte(header)), true)
	f.Add([]byte(strings.Replace(header, "age", "land", 1)), true)
	f.Fuzz(func(t *testing.T, data []byte, header bool) {
		c := records.CSV{Header: header, Comment: '|'}
		frame, err := c.ReadFrame(bytes.NewReader(data), s)
		inSchema(t, dataOf(frame), err)
		if err != nil {
			return
		}
		for i := range frame.Len() {
			validRow(t, s, frame.Row(nil, i))
		}
		_ = records.Check(frame)
		back := throughCSV(t, c, frame)
		if !sameFrame(frame, back) || records.Check(back) != nil {
			t.Fatalf("%s is read back as %s", cellsOf(frame), cellsOf(back))
		}
	})
}

// dataOf returns f as data, and nil for a nil frame.
func dataOf(f *records.Frame) records.Data {
	if f == nil {
		return nil
	}
	return f
}

// floats reads every four bytes as a float32, so that every float32 can occur.
func floats(data []byte) []float32 {
	out := make([]float32, len(data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}

func FuzzDecodeFlat(f *testing.F) {
	s := people(f)
	f.Add([]byte(nil))
	f.Add(bytes.Repeat([]byte{0, 0, 0xc0, 0x7f}, s.Dim()))
	f.Add(bytes.Repeat([]byte{0, 0, 0x80, 0xff, 0, 0, 0x80, 0x3f}, s.Dim()))
	f.Fuzz(func(t *testing.T, data []byte) {
		flat := floats(data)
		flat = flat[:len(flat)/s.Dim()*s.Dim()]
		labels := make([]int32, len(flat)/s.Dim())
		for i := range labels {
			labels[i] = int32(data[i]) - 3
		}
		frame := must(records.DecodeFlat(s, flat, labels...))(t)
		if err := records.Check(frame); err != nil {
			t.Fatal(err)
		}
		for i := range frame.Len() {
			validRow(t, s, frame.Row(nil, i))
		}
		if !sameFrame(frame, throughCSV(t, records.CSV{Header: true}, frame)) {
			t.Fatal("CSV changes the rows")
		}
	})
}
