package records_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// TestConditionsAreTheRules: a coordinate is in a span if and only if an Enforcer keeps the record
// that it decodes to. The test tries random coordinates and both sides of every end of a span.
func TestConditionsAreTheRules(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		column records.Column
		list   []records.Constraint
	}{
		{records.Numeric("c", -3, 1e4), []records.Constraint{records.Within("c", 0.5, 99.99)}},
		{records.Numeric("c", 0, 1), []records.Constraint{records.Within("c", nil, 0.25),
			records.Within("c", 0.125, nil).OrMissing()}},
		{records.Numeric("c", 0, 1).WithMissing(), []records.Constraint{
			records.Within("c", nil, 0.25).OrMissing()}},
		{records.Numeric("c", 0, 1).WithStep(0.01), []records.Constraint{
			records.Within("c", 0.105, 0.3), records.Only("c", 0.11, 0.12, 0.29, 0.3, 0.31)}},
		{records.Numeric("c", 0, 500).WithStep(0.25).Logarithmic(), []records.Constraint{
			records.Within("c", 0.3, 99.9)}},
		{records.Integer("c", 0, 1000), []records.Constraint{records.Only("c", 7, 9, 10, 500)}},
		{records.Integer("c", 0, 9).WithMissing(), []records.Constraint{records.Only("c", 7, nil)}},
		{records.Integer("c", 0, 9), []records.Constraint{records.Only("c", 1, 7),
			records.Within("c", 2, 9)}},
		{records.Integer("c", -(math.MaxInt >> 3), math.MaxInt>>3),
			[]records.Constraint{records.Within("c", 5, math.MaxInt>>23)}},
		{records.Ordinal("c", "S", "M", "L", "XL"), []records.Constraint{
			records.Within("c", "M", "L")}},
		{records.Ordinal("c", "S", "M", "L", "XL").WithMissing(), []records.Constraint{
			records.Only("c", "S", "XL")}},
		{records.Flag("c", "no", "yes"), []records.Constraint{records.Only("c", "yes")}},
		{records.Datetime("c", at("1992-01-01T00:00:00Z"), at("1998-12-31T00:00:00Z"), day),
			[]records.Constraint{records.Within("c", at("1995-02-03T00:00:00Z"),
				at("1996-01-01T12:00:00Z"))}},
		{records.Duration("c", 0, time.Hour, time.Millisecond).WithMissing(),
			[]records.Constraint{records.Within("c", time.Second, "12.5")}},
	} {
		s := must(records.NewSchema(c.column))(t)
		found, _, err := records.Conditions(s, c.list)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || found[0].Column != 0 || len(found[0].Met) != len(c.list) {
			t.Fatalf("%v: got conditions %+v, want one for column 0", c.list, found)
		}
		rng := rand.New(rand.NewPCG(3, 1))
		flat := []float32{0, 1}
		for range 400 {
			flat = append(flat, rng.Float32())
		}
		for _, end := range found[0].Spans {
			for _, u := range []float32{end.Lo, end.Hi} {
				for _, near := range []float32{math.Nextafter32(u, -1), u, math.Nextafter32(u, 2)} {
					flat = append(flat, min(max(near, 0), 1))
				}
			}
		}
		inside := 0
		for _, u := range flat {
			row := make([]float32, s.Dim())
			row[0] = u
			in := slices.ContainsFunc(found[0].Spans, func(s records.Span) bool {
				return s.Lo <= u && u <= s.Hi
			})
			if in != kept(t, s, row, c.list) {
				t.Fatalf("%v: coordinate %v, spans %v: in a span is %v, kept is not",
					c.list, u, found[0].Spans, in)
			}
			if in {
				inside++
			}
		}
		if inside == 0 || inside == len(flat) {
			t.Errorf("%v: %d of %d coordinates are allowed, want some", c.list, inside, len(flat))
		}
		if s.Dim() == 2 && found[0].Missing != kept(t, s, []float32{0, 1}, c.list) {
			t.Errorf("%v: got %v for a missing value, want the opposite", c.list, found[0].Missing)
		}
	}
}

// kept reports whether an encoded row obeys constraints.
func kept(t testing.TB, s records.Schema, row []float32, list []records.Constraint) bool {
	t.Helper()
	e := must(records.NewEnforcer(s, list...))(t)
	return must(e.Keep(must(records.DecodeFlat(s, row))(t), 1))(t).Len() == 1
}

func TestConditionsOnLevels(t *testing.T) {
	s := must(records.NewSchema(records.Categorical("town", "Bonn", "Köln", "Ulm").WithMissing(),
		records.Numeric("x", 0, 1), records.Numeric("y", 0, 1), records.Numeric("z", 0, 1),
		records.Datetime("day", at("2020-01-01T00:00:00Z"), at("2021-01-01T00:00:00Z"),
			24*time.Hour).WithParts(records.WeekdayPart), records.Label("class", "a", "b")))(t)
	found, _, err := records.Conditions(s, []records.Constraint{
		records.Within("x", 0.5, nil), // changed by the repair of Ascending
		records.Ascending("x", "y").Repaired(),
		records.Only("town", "Ulm", nil),
		records.Only("class", "b"),
		records.Within("day", "2020-02-01", "2020-03-01"), // encoded in parts
		records.Determines([]string{"town", "z"}),
		records.Within("z", 0, 0.1), // determined by town
		records.Unique("x", "town"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].Column != 0 || found[1].Column != 5 ||
		!slices.Equal(found[0].Levels, []bool{false, false, true}) || !found[0].Missing ||
		!slices.Equal(found[1].Levels, []bool{false, true}) || !slices.Equal(found[0].Met, []int{2}) ||
		!slices.Equal(found[1].Met, []int{3}) {
		t.Errorf("got wrong conditions %+v", found)
	}
	if _, _, err := records.Conditions(s, []records.Constraint{records.Only("x", "?")}); err == nil {
		t.Error("a value that is not a number is accepted")
	}
	if found, joint, err := records.Conditions(records.Sets(9, 3), nil); found != nil ||
		joint != nil || err != nil {
		t.Errorf("sets: got conditions %+v, %+v, %v, want none", found, joint, err)
	}
}

// TestJointConditions: the result lists each combination of levels once, in the order of the
// constraint's columns. It omits combinations of numbers, and of columns that another constraint
// may change.
func TestJointConditions(t *testing.T) {
	s := must(records.NewSchema(records.Integer("n", 0, 9), records.Flag("f", "no", "yes"),
		records.Categorical("c", "p", "q").WithMissing(), records.Ordinal("o", "1", "2", "3"),
		records.Label("class", "u", "v")))(t)
	pairs := records.Combinations([]string{"class", "c"}, []string{"v", ""}, []string{"u", "q"},
		[]string{"v", ""})
	numbers := records.Combinations([]string{"n", "f"}, []string{"1", "no"})
	for name, one := range map[string]struct {
		list []records.Constraint
		want string
	}{
		"levels and numbers": {[]records.Constraint{numbers, pairs}, "[{[4 2] 1 [[1 2] [0 1]]}]"},
		"a column that follows": {[]records.Constraint{pairs, records.Determines([]string{"f", "c"})},
			"[]"},
		"a column that is repaired": {[]records.Constraint{pairs, records.Combinations(
			[]string{"c", "o"}, []string{"p", "1"}).Repaired()}, "[]"},
	} {
		_, got, err := records.Conditions(s, one.list)
		if text := fmt.Sprint(got); err != nil || text != one.want {
			t.Errorf("%s: %s, %v, want %s", name, text, err, one.want)
		}
	}
}
