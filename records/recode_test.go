package records_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// openSchema has an open column of towns.
func openSchema(t *testing.T) records.Schema {
	t.Helper()
	s := must(records.NewSchema(records.Hashed("town", 5).WithOther("other").WithMissing(),
		records.Flag("old", "no", "yes")))(t)
	return s
}

// textsOf returns the texts that rows keep, and the levels of their towns.
func textsOf(t *testing.T, d records.Data) (texts []string, levels []int) {
	t.Helper()
	_, err := records.Recode(d, d.Schema(), func(row, column int, text string, level int) int {
		if row != len(texts) || column != 0 {
			t.Errorf("row %d of column %d comes after %d rows", row, column, len(texts))
		}
		texts, levels = append(texts, text), append(levels, level)
		return level
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts, levels
}

// TestOpenColumnsKeepTexts: whatever the form of a file, rows keep the texts that can be levels,
// also when rows are taken, joined or cut.
func TestOpenColumnsKeepTexts(t *testing.T) {
	s := openSchema(t)
	long := strings.Repeat("x", 257)
	want := []string{"Bern", "", "", "17", "", "", "Bern", "bucket-2"}
	csv := must(records.CSV{Header: true, Missing: []string{"?"}}.ReadFrame(strings.NewReader(
		"town,old\nBern,no\n?,no\nother,no\n17,no\n"+long+",no\n\"a\tb\",no\n Bern ,no\n"+
			"bucket-2,no\n"), s))(t)
	lines, err := records.JSONLines{}.ReadFrame(strings.NewReader(`{"town":"Bern","old":"no"}
{"town":null,"old":"no"}
{"town":"other","old":"no"}
{"town":17.0,"old":"no"}
{"town":"`+long+`","old":"no"}
{"town":"a\tb","old":"no"}
{"town":"Bern","old":"no"}
{"town":"bucket-2","old":"no"}`), s)
	if err != nil {
		t.Fatal(err)
	}
	no := records.Values{Codes: make([]int32, 8), Dictionary: []string{"no"}}
	columns := must(records.FromColumns(s, records.Values{Codes: []int32{0, -1, 1, 2, 3, 4, 0, 5},
		Dictionary: []string{"Bern", "other", "17", long, "a\tb", "bucket-2"}}, no))(t)
	values := must(records.FromValues(s, []any{"Bern", "no"}, []any{nil, "no"}, []any{"other", "no"},
		[]any{17, "no"}, []any{long, "no"}, []any{"a\tb", "no"}, []any{" Bern ", "no"},
		[]any{"bucket-2", "no"}))(t)
	for form, rows := range map[string]*records.Frame{"CSV": csv, "JSON": lines, "columns": columns,
		"values": values} {
		texts, levels := textsOf(t, rows)
		if !slices.Equal(texts, want) {
			t.Errorf("%s: texts %q, want %q", form, texts, want)
		}
		if levels[1] != -1 || levels[2] != 4 || levels[0] == 4 || levels[0] != levels[6] ||
			levels[7] != 2 {
			t.Errorf("%s: levels %d", form, levels)
		}
		part := must(records.Concat(s, rows.Slice(6, 8), rows.Take([]int32{3, 0})))(t)
		want := []string{"Bern", "bucket-2", "17", "Bern"}
		if texts, _ := textsOf(t, part); !slices.Equal(texts, want) {
			t.Errorf("%s: texts of parts %q", form, texts)
		}
		generated := must(records.DecodeFlat(s, rows.Row(nil, 0)))(t)
		both := must(records.Concat(s, generated, rows.Slice(0, 1)))(t)
		if texts, _ := textsOf(t, both); !slices.Equal(texts, []string{"", "Bern"}) {
			t.Errorf("%s: texts beside a generated row: %q", form, texts)
		}
	}
}

// TestRecode: levels of open columns are replaced, and nothing else.
func TestRecode(t *testing.T) {
	s := openSchema(t)
	rows := must(records.FromValues(s, []any{"Bern", "no"}, []any{nil, "yes"}, []any{"Chur", "no"}))(t)
	closed := must(records.NewSchema(records.Categorical("town", "Bern", "other").WithMissing(),
		records.Flag("old", "no", "yes")))(t)
	code := func(_, _ int, text string, level int) int {
		return map[string]int{"Bern": 0, "Chur": 1, "": -1}[text]
	}
	persons := must(records.GroupBy(rows, []string{"a", "b", "b"}, 2))(t)
	for _, d := range []records.Data{rows, records.WithUnit(rows, records.UnitUser), persons} {
		to := closed.ByPerson(d.Schema().RowsPerPerson())
		out := must(records.Recode(d, to, code))(t)
		if !out.Schema().Equal(to) || records.UnitOf(out) != records.UnitOf(d) || out.Len() != d.Len() {
			t.Errorf("%T became %T of %v", d, out, out.Schema())
		}
		all, _ := records.RowsOf(out)
		f, _ := records.AsFrame(all)
		if got := []any{f.Value(0, 0), f.Value(1, 0), f.Value(2, 0), f.Value(1, 1)}; !slices.Equal(got,
			[]any{"Bern", "", "other", "yes"}) {
			t.Errorf("%T: values %v", d, got)
		}
		if err := records.Check(out); err != nil {
			t.Error(err)
		}
	}
	images := must(records.FromFlat(records.Image(1, 1), []float32{1}))(t)
	var wrong *param.Error
	if _, err := records.Recode(images, images.Schema(), code); !errors.As(err, &wrong) {
		t.Errorf("images: %v", err)
	}
}

// TestOpenColumns: an open column can be written as JSON, has the other level in its last bucket,
// and hashes all other texts into the others.
func TestOpenColumns(t *testing.T) {
	s := openSchema(t)
	text := must(json.Marshal(s))(t)
	var read records.Schema
	if err := json.Unmarshal(text, &read); err != nil || !read.Equal(s) {
		t.Errorf("%s: read %v, %v", text, read, err)
	}
	if hashed, err := records.NewSchema(records.Hashed("town", 5).WithMissing(),
		records.Flag("old", "no", "yes")); err != nil || hashed.Equal(s) {
		t.Errorf("a hashed column equals an open one: %v", err)
	}
	if c := s.Columns()[0]; c.Levels()[4] != "other" || c.Other() != "other" {
		t.Errorf("levels %q", c.Levels())
	}
	b := must(records.NewFrameBuilder(s))(t)
	for i := range 200 {
		if err := b.Append(i*i, "no"); err != nil {
			t.Fatal(err)
		}
	}
	if _, levels := textsOf(t, b.Frame()); slices.Max(levels) != 3 || slices.Min(levels) != 0 {
		t.Errorf("levels %d", levels)
	}
	if err := b.Append(math.NaN(), "no"); err != nil {
		t.Fatal(err)
	}
	if _, levels := textsOf(t, b.Frame()); levels[0] != -1 {
		t.Errorf("NaN has the level %d, want a missing value", levels[0])
	}
	for name, c := range map[string]records.Column{
		"name of a bucket": records.Hashed("town", 5).WithOther("bucket-3"),
		"known texts":      records.Hashed("town", 5, "Bern").WithOther("other"),
		"control":          records.Hashed("town", 5).WithOther("a\tb"),
	} {
		var wrong *param.Error
		if _, err := records.NewSchema(c); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOpenTexts counts texts of rows, and of persons with several rows: a person counts once in
// each column, for the most frequent text, and not at all if no row has one.
func TestOpenTexts(t *testing.T) {
	s := openSchema(t)
	b := must(records.NewFrameBuilder(s))(t)
	var persons []int
	for person, towns := range [][]any{{"Bern", "Basel", "Bern"}, {"Chur", "Basel"}, {nil, "other"},
		{"Bern", nil, nil, nil}, {"Basel", "Bern", "Basel", "Bern"}} {
		for _, town := range towns {
			persons = append(persons, person)
			if err := b.Append(town, "no"); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := b.Frame()
	grouped := must(records.GroupBy(rows, persons, 9))(t)
	ofRows := map[string]int64{"Bern": 5, "Basel": 4, "Chur": 1}
	for name, c := range map[string]struct {
		data records.Data
		want map[string]int64
	}{
		"rows":            {rows, ofRows},
		"rows with units": {records.WithUnit(rows, "visit"), ofRows},
		"persons":         {grouped, map[string]int64{"Bern": 2, "Basel": 2}},
	} {
		got, err := records.OpenTexts(c.data)
		if err != nil || len(got) != 1 || !maps.Equal(got[0], c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	vectors := must(records.FromFlat(records.Interval(1, 0, 1), nil))(t)
	if _, err := records.OpenTexts(vectors); err == nil {
		t.Error("texts of vectors")
	}
}
