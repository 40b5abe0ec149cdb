package records_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// TestSeparatorsOfSeveralBytes: a value that holds the separator is quoted, and read back.
func TestSeparatorsOfSeveralBytes(t *testing.T) {
	for _, comma := range []rune{',', ';', 'é', '…', '😀', '\u00a1'} {
		level := "a" + string(comma) + "b"
		s := must(records.NewSchema(records.Categorical("x", level, "c"), records.Flag("y", "n",
			"y")))(t)
		f := must(records.FromValues(s, []any{level, "y"}, []any{"c", "n"}))(t)
		var b bytes.Buffer
		form := records.CSV{Comma: comma}
		if err := form.WriteFrame(&b, f); err != nil {
			t.Fatal(err)
		}
		if want := "\"" + level + "\"" + string(comma) + "y\n"; !strings.Contains(b.String(), want) {
			t.Errorf("%q: %q does not hold %q", comma, b.String(), want)
		}
		back := must(form.ReadFrame(&b, s))(t)
		if back.Len() != 2 || back.Value(0, 0) != level || back.Value(1, 0) != "c" {
			t.Errorf("%q: read back %d records, %q", comma, back.Len(), back.Value(0, 0))
		}
	}
}

// TestMissingTicks: moments with a missing value keep both in coordinates, in repairs and in
// comparisons.
func TestMissingTicks(t *testing.T) {
	day := func(n int) time.Time { return at("2024-01-01T00:00:00Z").AddDate(0, 0, n) }
	s := must(records.NewSchema(records.Datetime("from", day(0), day(9), 24*time.Hour).WithMissing(),
		records.Datetime("to", day(0), day(9), 24*time.Hour).WithMissing(),
		records.Flag("open", "n", "y")))(t)
	f := must(records.FromValues(s, []any{day(8), day(9), "n"}, []any{nil, day(9), "y"},
		[]any{day(9), nil, "n"}, []any{day(0), day(1), "n"}, []any{day(3), day(3), "n"}))(t)
	var z records.Nonzeros
	z.Range(f, 0, f.Len())
	row := make([]float32, f.Len()*s.Dim())
	for i := range f.Len() {
		places, values := z.Row(i)
		for k, place := range places {
			row[i*s.Dim()+int(place)] = values[k]
		}
	}
	back := must(records.DecodeFlat(s, row))(t)
	for i := range f.Len() {
		for j := range 3 {
			if back.Value(i, j) != f.Value(i, j) {
				t.Errorf("row %d, column %d: %q, want %q", i, j, back.Value(i, j), f.Value(i, j))
			}
		}
	}
	kept := func(c ...records.Constraint) (values []string) {
		e := must(records.NewEnforcer(s, c...))(t)
		some, _ := records.AsFrame(must(e.Keep(f, f.Len()))(t))
		for i := range some.Len() {
			values = append(values, strings.TrimPrefix(some.Value(i, 0), "2024-01-")+"/"+
				strings.TrimPrefix(some.Value(i, 1), "2024-01-"))
		}
		return values
	}
	for _, c := range []struct {
		rule records.Constraint
		want string
	}{
		{records.StrictlyAscending("from", "to"), "09/10 /10 10/ 01/02"},
		{records.Ascending("from", "to"), "09/10 /10 10/ 01/02 04/04"},
		{records.Within("from", day(3), day(3)), "04/04"},
		{records.Within("from", day(3), day(3)).OrMissing(), "/10 04/04"},
		{records.Within("from", day(2).Add(time.Hour), day(8).Add(time.Hour)), "09/10 04/04"},
		{records.Combinations([]string{"open", "to"}, []string{"y", ""}, []string{"n", "2024-01-02"}).
			Repaired(), "09/02 / 10/ 01/02 04/02"},
		{records.Combinations([]string{"open", "to"}, []string{"y", ""}, []string{"n", ""}).Repaired(),
			"09/ / 10/ 01/ 04/"},
	} {
		if got := strings.Join(kept(c.rule), " "); got != c.want {
			t.Errorf("%s: kept %q, want %q", c.rule, got, c.want)
		}
	}
	if _, err := records.NewEnforcer(s, records.Within("from", day(4), day(3))); err == nil {
		t.Error("bounds that no day is within are accepted")
	}
}

// TestValuesOfConstraints: the texts of the values that a constraint is given.
func TestValuesOfConstraints(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{float32(0.1), "0.1"}, {0.1, "0.1"}, {1e21, "1e+21"}, {float32(1e21), "1e+21"}, {7, "7"},
		{" a ", "a"}, {90 * time.Second, "90.000000000"}, {-time.Millisecond, "-0.001000000"},
		{at("2024-01-01T00:00:00Z"), "2024-01-01T00:00:00Z"},
	} {
		text := string(must(records.Only("x", c.value).MarshalJSON())(t))
		if !strings.Contains(text, `"`+c.want+`"`) {
			t.Errorf("%v: %s does not hold %q", c.value, text, c.want)
		}
	}
}

// TestLinesOfBlanks: a line of blanks is a record if a record has one column, and none otherwise.
func TestLinesOfBlanks(t *testing.T) {
	one := must(records.NewSchema(records.Integer("x", 0, 9).WithMissing()))(t)
	two := must(records.NewSchema(records.Integer("x", 0, 9).WithMissing(),
		records.Integer("y", 0, 9).WithMissing()))(t)
	for text, want := range map[string]int{"x\n5\n \n7\n": 3, "x\n5\n\n7\n": 2,
		"x\n5\n\"\"\n7\n": 3} {
		if f := must((records.CSV{Header: true}).ReadFrame(strings.NewReader(text),
			one))(t); f.Len() != want {
			t.Errorf("%q: %d records, want %d", text, f.Len(), want)
		}
	}
	for text, want := range map[string]int{"x,y\n5,1\n  \n7,2\n": 2, "x,y\n5,1\n , \n7,2\n": 3} {
		if f := must((records.CSV{Header: true}).ReadFrame(strings.NewReader(text),
			two))(t); f.Len() != want {
			t.Errorf("%q: %d records, want %d", text, f.Len(), want)
		}
	}
	tabs := records.CSV{Header: true, Comma: '\t'}
	if f := must(tabs.ReadFrame(strings.NewReader("x\ty\n5\t1\n\t\n \n"), two))(t); f.Len() != 2 {
		t.Errorf("%d records with tabs, want 2", f.Len())
	}
}

// TestNoMoreAreKept: Keep returns at most as many records as it is asked for, the first that obey,
// and tries no more than it needs.
func TestNoMoreAreKept(t *testing.T) {
	s := must(records.NewSchema(records.Integer("x", 0, 9)))(t)
	f := must(records.FromValues(s, []any{8}, []any{1}, []any{9}, []any{2}, []any{3}))(t)
	sets := records.Sets(6, 3)
	d := must(records.FromItems(sets, [][]uint32{{4}, {1}, {5}, {1, 2}, {1, 3}}))(t)
	for most, tried := range []int{0, 2, 4, 5, 5, 5} {
		e := must(records.NewEnforcer(s, records.Within("x", 0, 3)))(t)
		kept, _ := records.AsFrame(must(e.Keep(f, most))(t))
		of := must(records.NewEnforcer(sets, records.HasItems(1)))(t)
		some := must(of.Keep(d, most))(t)
		if want := min(most, 3); kept.Len() != want || some.Len() != want || e.Kept() != want ||
			of.Kept() != want || e.Tried() != tried || of.Tried() != tried {
			t.Errorf("at most %d: %d rows of %d tried and %d sets of %d, want %d of %d", most, kept.Len(),
				e.Tried(), some.Len(), of.Tried(), want, tried)
		}
	}
}
