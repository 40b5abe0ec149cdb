package draft_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func TestDraftOfPublicRows(t *testing.T) {
	const text = "id,age,kg,kind,sex,home,always\n" +
		"a1, 3,4.5,cat,m,yes,7\n" +
		"a2,?,2,dog,f,no,7\n" +
		"a3,17,nan,\"a, b\",f,no,7\n\n"
	c := records.CSV{Header: true}
	d := draft.Public{Label: "home", Skip: []string{"id"}}
	s, err := draft.FromPublic(strings.NewReader(text), c, d)
	if err != nil {
		t.Fatal(err)
	}
	want, err := records.NewSchema(records.Integer("age", 3, 17).WithMissing(),
		records.Numeric("kg", 2, 4.5).WithMissing(),
		records.Categorical("kind", "a, b", "cat", "dog"), records.Flag("sex", "f", "m"),
		records.Label("home", "no", "yes"),
		records.Categorical("always", "7"))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Equal(want) {
		t.Errorf("got a wrong draft, %v", s.Columns())
	}
	f, err := c.ReadFrame(strings.NewReader(text), s)
	if err != nil || f.Len() != 3 {
		t.Fatalf("the rows cannot be read: %v", err)
	}
	if err := records.Check(f); err != nil {
		t.Error(err)
	}
	s, err = draft.FromPublic(strings.NewReader("1,x\n2,y\n"), records.CSV{},
		draft.Public{Target: "c1"})
	if err != nil || s.Columns()[0].Kind() != records.TargetColumn || s.Columns()[1].Name() != "c2" {
		t.Errorf("without names: %v, %v", s, err)
	}
	s, err = draft.FromPublic(strings.NewReader("1,10\n2,9\n"), records.CSV{},
		draft.Public{Label: "c2"})
	if err != nil || s.ClassName(0) != "9" {
		t.Errorf("numbers as classes: got classes %v and error %v, want 9 first", s.ClassNames(), err)
	}
	names := records.CSV{Names: []string{"p", ""}}
	if s, err = draft.FromPublic(strings.NewReader("1,x\n2,y\n"), names, draft.Public{}); err != nil ||
		len(s.Columns()) != 1 {
		t.Errorf("with names: %v, %v", s, err)
	}
}

func TestDraftsThatCannotBe(t *testing.T) {
	const text = "a,b\n1,x\n2,y\n"
	for want, d := range map[string]draft.Public{
		`"z"`:                  {Label: "z"},
		"a column of numbers":  {Target: "b"},
		`texts of column "b"`:  {MaxLevels: 1, Label: "b"},
		"draft.Public.Max":     {MaxLevels: -1},
		"at least one":         {Skip: []string{"a"}, Label: "b"},
		"2 labels and targets": {Label: "b", Target: "a"},
	} {
		_, err := draft.FromPublic(strings.NewReader(text), records.CSV{Header: true}, d)
		var shape *param.Error
		if !errors.As(err, &shape) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got wrong error %v", d, err)
		}
	}
	if _, err := draft.FromPublic(strings.NewReader("1,2\n"), records.CSV{},
		draft.Public{Skip: []string{"c1"}}); err == nil {
		t.Error("a draft that cannot read its own file is accepted")
	}
	for _, text := range []string{"", "a,b\n1\n", "\"a\n1,2"} {
		if _, err := draft.FromPublic(strings.NewReader(text), records.CSV{Header: true},
			draft.Public{}); !errors.Is(err, records.ErrFormat) {
			t.Errorf("%q: got error %v, want ErrFormat", text, err)
		}
	}
}

// TestFirstLineOfPublicRows checks that the first line is taken as names only if the layout says
// so, or if the line cannot be a record. An error repeats nothing of the line.
func TestFirstLineOfPublicRows(t *testing.T) {
	header, none := records.CSV{Header: true}, records.CSV{}
	for _, c := range []struct {
		text   string
		layout records.CSV
		unsure bool
		good   bool
	}{
		{"age,name\n3,x\n4,y\n", header, true, true},
		{"secret,name\nx,u\ny,v\n", header, true, false}, // columns of texts alone
		{"secret,name\nx,u\ny,v\n", header, false, true},
		{"39,secret\n3,x\n4,y\n", header, true, false}, // a number in a column of numbers
		{"?,secret\n3,x\n4,y\n", header, true, false},  // a missing value
		{"NA,secret\n3,x\n4,y\n", header, true, false},
		{"age,secret\n3,secret\n4,y\n", header, true, false}, // a text that occurs again
		{"age,secret,7\n3,x,1\n4,y,2\n", header, true, false},
		{"secret,secret\n3,x\n4,y\n", header, true, false}, // a name twice
		{"secret,name\n", header, true, false},             // no other line
		{"age,secret\n3,x\n4,y\n", none, false, false},
		{"age,secret\n3,x\n4,y\n", records.CSV{Names: []string{"a", "b"}}, false, false},
		{"age,secret\n3,x\n4,y\n", records.CSV{FirstRecord: true}, false, true},
		{"39,secret\n3,x\n4,y\n", none, false, true},
		{"u,secret\nx,v\n", none, false, true},
	} {
		_, err := draft.FromPublic(strings.NewReader(c.text), c.layout, draft.Public{Unsure: c.unsure})
		if c.good && err != nil || !c.good && !errors.Is(err, records.ErrHeader) {
			t.Errorf("%q, header %v, unsure %v: got error %v", c.text, c.layout.Header, c.unsure, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error repeats the line: %v", c.text, err)
		}
	}
}

// TestTheFirstRecordCounts: a file without a header is read as the same rows below a header: the
// first row alone may tell how a column is read, what its bounds are, or that a value is missing.
func TestTheFirstRecordCounts(t *testing.T) {
	for _, rows := range []string{
		"13/02/2020\n03/04/2020\n05/06/2020\n", // the day comes first
		"02/13/2020\n03/04/2020\n05/06/2020\n",
		"1.234,5\n1.500\n2.750\n3.125\n", // a comma before the decimals
		"99\n1\n2\n3\n", "-5\n1\n2\n3\n", "0.5\n1\n2\n3\n", "\n1\n2\n3\n", "007\n1\n2\n3\n",
		"steel\nwood\nwood\nglass\nglass\n", "unknown\n1\n2\n3\n", "a;7\nb;8\nb;9\n",
	} {
		read := func(text string, layout records.CSV) string {
			s, err := draft.FromPublic(strings.NewReader(text), layout, draft.Public{})
			schema, bad := s.MarshalJSON()
			if err := errors.Join(err, bad); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			return string(schema)
		}
		header := "c1\n"
		if rows[1] == ';' {
			header = "c1;c2\n"
		}
		got := read(rows, records.CSV{Comma: ';', FirstRecord: true})
		if want := read(header+rows, records.CSV{Comma: ';', Header: true}); got != want {
			t.Errorf("%q: got %s\nbelow a header %s", rows, got, want)
		}
	}
}

// TestFirstRecordAmongManyTexts: a text of the first line that occurs again is found even after
// more texts than a column may have levels.
func TestFirstRecordAmongManyTexts(t *testing.T) {
	text := "absent,city 250\n"
	for i := range 300 {
		text += fmt.Sprintf("%d,city %d\n", i, i)
	}
	_, err := draft.FromPublic(strings.NewReader(text), records.CSV{Header: true},
		draft.Public{Unsure: true})
	if !errors.Is(err, records.ErrHeader) || strings.Contains(err.Error(), "city") {
		t.Errorf("got error %v, want ErrHeader without the record's text", err)
	}
}

// TestInfinityAmongTexts: NaN and Inf are missing values in a column of numbers. Among texts they
// are levels like any other, and then no value is missing.
func TestInfinityAmongTexts(t *testing.T) {
	for text, want := range map[string]bool{
		"x\n1\nNaN\n2\n":    true,
		"x\n1\nInf\n":       true,
		"x\nInf\nsteel\n":   false,
		"x\nNaN\n-Inf\n":    false,
		"x\nNaN\nsteel\n\n": false,
	} {
		s, err := draft.FromPublic(strings.NewReader(text), records.CSV{Header: true}, draft.Public{})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := s.Columns()[0].HasMissing(); got != want {
			t.Errorf("%q: missing %v, want %v", text, got, want)
		}
	}
}
