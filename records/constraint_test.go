package records_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// constrained returns the schema of a table with a constraint of every kind.
func constrained(t testing.TB) records.Schema {
	t.Helper()
	s := must(records.NewSchema(
		records.Integer("low", 0, 100), records.Numeric("high", 0, 50).WithMissing(),
		records.Datetime("from", at("2024-01-01T00:00:00Z"), at("2024-12-31T00:00:00Z"), time.Hour),
		records.Datetime("to", at("2023-06-01T12:30:00Z"), at("2025-12-31T00:00:00Z"),
			24*time.Hour).WithMissing(),
		records.Duration("least", 0, time.Hour, time.Second),
		records.Duration("most", -time.Minute, 2*time.Hour, time.Millisecond),
		records.Integer("small", 0, 1000), records.Integer("wide", 0, math.MaxInt>>3),
		records.Ordinal("before", "a", "b", "c"), records.Ordinal("after", "a", "b", "c").WithMissing(),
		records.Categorical("town", "Bonn", "Köln", "Graz").WithMissing(),
		records.Categorical("land", "D", "A"), records.Label("class", "x", "y")))(t)
	return s.WithConstraints(
		records.Determines([]string{"town", "land"}, []string{"Bonn", "D"}, []string{"", "A"}),
		records.Ascending("low", "high"), records.StrictlyAscending("from", "to"),
		records.Ascending("least", "most"), records.Ascending("small", "wide"),
		records.Ascending("before", "after"), records.Within("before", nil, "b"),
		records.Within("to", at("2024-01-01T00:00:00Z"), nil).OrMissing(),
		records.Only("class", "x", "y"), records.Unique("low", "from"),
		records.Combinations([]string{"town", "class"}, []string{"Bonn", "x"}, []string{"Bonn", "y"},
			[]string{"Köln", "x"}, []string{"Graz", "y"}, []string{"", "y"}))
}

// TestKeptRecordsObey: kept records obey every constraint. The test compares values of columns on
// different grids and in different representations.
func TestKeptRecordsObey(t *testing.T) {
	s := constrained(t)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	e := must(records.NewEnforcer(s, s.Constraints()...))(t)
	r := rand.New(rand.NewPCG(7, 8))
	var parts []records.Data
	for range 40 {
		const n = 1000
		flat, labels := make([]float32, n*s.Dim()), make([]int32, n)
		for i := range flat {
			flat[i] = r.Float32()
		}
		for i := range labels {
			labels[i] = r.Int32N(2)
		}
		kept := must(e.Keep(must(records.DecodeFlat(s, flat, labels...))(t), n))(t)
		parts = append(parts, kept)
	}
	d := must(records.Concat(s, parts...))(t)
	f, _ := records.AsFrame(d)
	if f.Len() != e.Kept() || f.Len() < 100 || e.Tried() != 40_000 {
		t.Fatalf("got %d records, %d kept of %d, with acceptance %v",
			f.Len(), e.Kept(), e.Tried(), e.Acceptance())
	}
	if err := records.Check(f); err != nil {
		t.Fatal(err)
	}
	at := func(name string) int { return s.ColumnIndex(name) }
	lands, keys := map[string]string{"Bonn": "D", "": "A"}, map[string]bool{}
	for i := range f.Len() {
		from, _ := f.Time(i, at("from"))
		to, there := f.Time(i, at("to"))
		least, _ := f.Duration(i, at("least"))
		most, _ := f.Duration(i, at("most"))
		small, _ := f.Whole(i, at("small"))
		wide, _ := f.Whole(i, at("wide"))
		town, land, class := f.Value(i, at("town")), f.Value(i, at("land")), f.Value(i, at("class"))
		if was, seen := lands[town]; seen && was != land {
			t.Fatalf("%q is in %q and %q", town, was, land)
		}
		lands[town] = land
		key := f.Value(i, at("low")) + "/" + f.Value(i, at("from"))
		high := f.Number(i, at("high"))
		if high < f.Number(i, at("low")) || there && !from.Before(to) || there && to.Year() < 2024 ||
			least > most || small > wide || f.Level(i, at("before")) > 1 || keys[key] ||
			f.Level(i, at("after")) >= 0 && f.Level(i, at("before")) > f.Level(i, at("after")) ||
			!strings.Contains("Bonnx Bonny Kölnx Grazy y", town+class) {
			t.Fatalf("row %d breaks a constraint: %s", i, f.AppendJSON(nil, i))
		}
		keys[key] = true
	}
}

// TestCheckReportsBrokenConstraints: Check reports records that break constraints and does not
// change them.
func TestCheckReportsBrokenConstraints(t *testing.T) {
	s := must(records.NewSchema(records.Integer("a", 0, 9), records.Integer("b", 0, 9),
		records.Flag("c", "no", "yes")))(t)
	s = s.WithConstraints(records.Ascending("a", "b").Repaired(),
		records.Determines([]string{"a", "c"}), records.Unique("b"))
	f := must(records.FromValues(s, []any{1, 2, "no"}, []any{5, 4, "no"}, []any{1, 3, "yes"},
		[]any{2, 2, "no"}))(t)
	err := records.Check(f)
	if err == nil || err.Error() != `records: row 1, column "a": breaks the constraint: a <= b, repaired
records: row 2, column "a": breaks the constraint: a determines c
records: row 3, column "b": breaks the constraint: (b) unique` {
		t.Errorf("Check returns %v, want three broken constraints", err)
	}
	if f.Value(1, 0) != "5" || f.Value(2, 2) != "yes" {
		t.Error("Check changed a record")
	}
}

// TestRepairsAreTheNearest: repairs move values as little as possible and do not change their
// input.
func TestRepairsAreTheNearest(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("a", 0, 9), records.Integer("b", 0, 5),
		records.Integer("c", 0, 9), records.Categorical("x", "p", "q", "r"),
		records.Categorical("y", "p", "q", "r")))(t)
	f := must(records.FromValues(s, []any{8.5, 4, 2, "q", "r"}, []any{0.25, 1, 0, "p", "p"}))(t)
	e := must(records.NewEnforcer(s, records.Within("a", 1.5, 3).Repaired(),
		records.Ascending("c", "b").Repaired(),
		records.Combinations([]string{"x", "y"}, []string{"p", "q"}, []string{"r", "r"}).Repaired()))(t)
	kept, _ := records.AsFrame(must(e.Keep(f, 2))(t))
	var got []string
	for i := range kept.Len() {
		got = append(got, string(kept.AppendJSON(nil, i)))
	}
	want := []string{`{"a":3,"b":4,"c":2,"x":"r","y":"r"}`, `{"a":1.5,"b":1,"c":0,"x":"p","y":"q"}`}
	if !slices.Equal(got, want) || f.Value(0, 0) != "8.5" || f.Value(0, 3) != "q" {
		t.Errorf("%q, want %q; from %q", got, want, f.AppendJSON(nil, 0))
	}
	e = must(records.NewEnforcer(s, records.Ascending("c", "b").Repaired()))(t)
	f = must(records.FromValues(s, []any{0, 2, 4, "p", "p"}, []any{0, 2, 9, "p", "p"}))(t)
	kept, _ = records.AsFrame(must(e.Keep(f, 2))(t))
	if kept.Len() != 1 || kept.Value(0, 1) != "4" || kept.Value(0, 2) != "2" {
		t.Errorf("kept %d records, want only the first, repaired: b cannot hold 9", kept.Len())
	}
}

// TestRepairsLeaveTheirInput: columns of every kind are repaired in copies, by all constraints that
// repair.
func TestRepairsLeaveTheirInput(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	s := must(records.NewSchema(records.Flag("k", "no", "yes"), records.Integer("a", 0, 9),
		records.Integer("b", 0, 9), records.Datetime("from", day(1), day(20), 24*time.Hour),
		records.Datetime("to", day(1), day(20), 24*time.Hour), records.Numeric("x", 0, 9),
		records.Categorical("c", "p", "q")))(t)
	f := must(records.FromValues(s, []any{"no", 7, 2, day(9), day(3), 8.5, "p"},
		[]any{"no", 6, 1, day(8), day(2), 7.5, "q"}, []any{"no", 5, 3, day(5), day(4), 6.5, "p"}))(t)
	text := func(f *records.Frame) (out string) {
		for i := range f.Len() {
			out += string(f.AppendJSON(nil, i))
		}
		return out
	}
	before := text(f)
	for _, c := range []records.Constraint{records.Ascending("a", "b").Repaired(),
		records.Ascending("from", "to").Repaired(), records.Within("x", 1, 2).Repaired(),
		records.Within("a", 1, 2).Repaired(), records.Determines([]string{"k", "a"}),
		records.Determines([]string{"k", "to"}), records.Determines([]string{"k", "x"}),
		records.Determines([]string{"k", "c"}),
		records.Combinations([]string{"k", "c"}, []string{"yes", "q"}).Repaired(),
		records.Combinations([]string{"a", "from"}, []string{"1", "2026-01-02"}).Repaired()} {
		e, err := records.NewEnforcer(s, c)
		if err != nil {
			t.Fatal(err)
		}
		kept, _ := records.AsFrame(must(e.Keep(f, 3))(t))
		if text(kept) == before {
			t.Errorf("%v: nothing is repaired", c)
		}
		if text(f) != before {
			t.Fatalf("%v changes its input", c)
		}
	}
}

// TestConstraintsReadBack: constraints survive JSON, remain if their columns do, and do not affect
// whether two schemas are equal.
func TestConstraintsReadBack(t *testing.T) {
	s := constrained(t)
	var back records.Schema
	if err := json.Unmarshal(must(json.Marshal(s))(t), &back); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(back.Constraints()) != fmt.Sprint(s.Constraints()) || !back.Equal(s) {
		t.Errorf("%v, want %v", back.Constraints(), s.Constraints())
	}
	if got := len(s.WithoutLabels().Constraints()); got != len(s.Constraints())-2 {
		t.Errorf("got %d constraints without labels, want two fewer than before", got)
	}
	if !s.WithConstraints().Equal(s) || len(s.WithConstraints().Constraints()) != 0 {
		t.Error("constraints affect the equality of schemas")
	}
	if err := records.Sets(5, 2).WithConstraints(records.HasItems(1)).Validate(); err == nil {
		t.Error("a schema of sets accepts constraints on columns")
	}
	for _, text := range []string{`{"type":"items","columns":["a"]}`, `{"type":"","columns":["a"]}`,
		`{"type":"unique","columns":["b"]}`, `{"type":"unique","columns":[]}`,
		`{"type":"unique","columns":["a"],"lo":"1"}`, `{"type":"only","columns":["a"]}`,
		`{"type":"only","columns":["a"],"rows":[[]]}`, `{"type":"within","columns":["a"],"lo":"2","hi":"1"}`,
		`{"type":"determines","columns":["a","c"],"rows":[["1","1"],["1","2"]]}`} {
		err := json.Unmarshal([]byte(`{"kind":"table","columns":[{"name":"a","type":"integer","lo":0,"hi":9},
			{"name":"c","type":"integer","lo":0,"hi":9}],"constraints":[`+text+`]}`), &back)
		if err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// TestItemConstraints: sets that meet the constraints are kept, with their labels.
func TestItemConstraints(t *testing.T) {
	s := records.Sets(6, 3).WithLabels("a", "b")
	d := must(records.FromItems(s, [][]uint32{{1, 2}, {1, 3}, {2}, {1, 2, 4}, {1, 2, 5}},
		0, 1, 0, 1, 0))(t)
	e := must(records.NewEnforcer(s, records.HasItems(2, 1), records.LacksItems(4)))(t)
	kept := must(e.Keep(d, 5))(t).(*records.SetTable)
	if kept.Len() != 2 || !slices.Equal(kept.Items(1), []uint32{1, 2, 5}) || kept.Label(1) != 0 ||
		e.Acceptance()[0].Met != 3 || e.Acceptance()[1].Met != 4 {
		t.Errorf("got %d sets with acceptance %v, want 2 sets", kept.Len(), e.Acceptance())
	}
	for _, wrong := range []records.Constraint{records.HasItems(6), records.HasItems(1, 2, 3, 4),
		records.Only("a", 1)} {
		if _, err := records.NewEnforcer(s, wrong); err == nil {
			t.Errorf("constraint %v is accepted for %v", wrong, s)
		}
	}
}

// TestConstraintsOfSmallFiles: a file of a megabyte may have a thousand constraints on columns of
// sixty thousand levels, and constraints on thousands of columns.
func TestConstraintsOfSmallFiles(t *testing.T) {
	var levels []string
	for i := range 60_000 {
		levels = append(levels, fmt.Sprint(i))
	}
	s := must(records.NewSchema(records.Ordinal("o", levels...), records.Ordinal("p", levels...)))(t)
	var list []records.Constraint
	for range 333 {
		list = append(list, records.Within("o", "1", "7"), records.Only("p", "1", "7"),
			records.Ascending("o", "p"))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := s.WithConstraints(list...).Validate()
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; err != nil || took > 100 {
		t.Errorf("a thousand constraints take %d MB, %v; want at most 100", took, err)
	}
	var names []string
	var columns []records.Column
	for i := range 1025 {
		names = append(names, fmt.Sprint(i))
		columns = append(columns, records.Integer(names[i], 0, 9))
	}
	wide := must(records.NewSchema(columns...))(t)
	// Three records of a file of 50 kB took minutes to be refused, since sorting takes squares.
	many := slices.Repeat([]records.Constraint{records.Ascending(names[:1024]...)}, 33)
	repaired := func(n int) records.Constraint { return records.Ascending(names[:n]...).Repaired() }
	for what, c := range map[string]struct {
		list []records.Constraint
		fine bool
	}{
		"all columns":        {many[:32], true},
		"more columns":       {many, false},
		"columns repaired":   {[]records.Constraint{repaired(128)}, true},
		"more repaired":      {[]records.Constraint{repaired(129)}, false},
		"a part is repaired": {append(many[1:30:30], repaired(128)), false},
	} {
		if err := wide.WithConstraints(c.list...).Validate(); (err == nil) != c.fine {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestRowsOfConstraintsAreCopied: a caller may change the rows of combinations afterwards.
func TestRowsOfConstraintsAreCopied(t *testing.T) {
	rows := [][]string{{"1", "p"}, {"2", "q"}}
	list := []records.Constraint{records.Combinations([]string{"a", "c"}, rows...),
		records.Determines([]string{"a", "c"}, rows...)}
	var before []string
	for _, c := range list {
		before = append(before, string(must(json.Marshal(c))(t)))
	}
	rows[0][1], rows[1] = "r", []string{"3", "r"}
	for i, c := range list {
		if text := string(must(json.Marshal(c))(t)); text != before[i] {
			t.Errorf("%s has become %s", before[i], text)
		}
	}
}
