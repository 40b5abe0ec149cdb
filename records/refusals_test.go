package records_test

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestConstraintsThatCannotBe: each constraint that no record of the schema can be judged by is
// refused, by the schema and by an enforcer, and its nearest good neighbour is not.
func TestConstraintsThatCannotBe(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	columns := []records.Column{records.Numeric("x", 0, 9), records.Numeric("y", 0, 9),
		records.Ordinal("size", "S", "M", "L"), records.Ordinal("other", "S", "M"),
		records.Flag("f", "n", "y"), records.Identifier("id", records.UUID()),
		records.Datetime("at", day(1), day(9), 24*time.Hour)}
	s := must(records.NewSchema(columns...))(t)
	long := slices.Repeat([]records.Constraint{records.Within("x", 0, 1)}, 1001)
	for name, c := range map[string]struct {
		bad, good []records.Constraint
	}{
		"no kind":   {[]records.Constraint{{}}, nil},
		"items":     {[]records.Constraint{records.HasItems(1)}, nil},
		"no column": {[]records.Constraint{records.Within("z", 0, 1)}, nil},
		"identifier": {[]records.Constraint{records.Unique("id")},
			[]records.Constraint{records.Unique("x")}},
		"one column": {[]records.Constraint{records.Ascending("x")},
			[]records.Constraint{records.Ascending("x", "y")}},
		"one to determine": {[]records.Constraint{records.Determines([]string{"x"})},
			[]records.Constraint{records.Determines([]string{"x", "y"})}},
		"nothing unique": {[]records.Constraint{records.Unique()}, nil},
		"twice": {[]records.Constraint{records.Ascending("x", "y", "x")},
			[]records.Constraint{records.Unique("x", "y")}},
		"other levels": {[]records.Constraint{records.Ascending("size", "other")}, nil},
		"other kinds":  {[]records.Constraint{records.Ascending("x", "at")}, nil},
		"no order":     {[]records.Constraint{records.Within("f", "n", "y")}, nil},
		"missing": {[]records.Constraint{records.Ascending("x", "y").OrMissing()},
			[]records.Constraint{records.Within("x", 0, 1).OrMissing(), records.Only("x",
				1).OrMissing()}},
		"repaired": {[]records.Constraint{records.Only("x", 1).Repaired()},
			[]records.Constraint{records.Within("x", 0, 1).Repaired(),
				records.Ascending("x", "y").Repaired(),
				records.Combinations([]string{"x", "y"}, []string{"1", "2"}).Repaired()}},
		"strictly repaired": {[]records.Constraint{records.StrictlyAscending("x", "y").Repaired()},
			nil},
		"determined missing": {[]records.Constraint{records.Determines([]string{"x", "y"}).OrMissing()},
			nil},
		"too many": {long, long[:1000]},
		"a short row": {[]records.Constraint{records.Combinations([]string{"x", "y"}, []string{"1"})},
			[]records.Constraint{records.Combinations([]string{"x", "y"}, []string{"1", "2"})}},
		"no rows": {[]records.Constraint{records.Combinations([]string{"x", "y"})}, nil},
		"a value outside": {[]records.Constraint{records.Only("size", "XL")},
			[]records.Constraint{records.Only("size", "L")}},
		"bounds reversed": {[]records.Constraint{records.Within("size", "L", "S")},
			[]records.Constraint{records.Within("size", "S", "L"), records.Within("size", nil, "S")}},
		"text as a bound": {[]records.Constraint{records.Within("at", "someday", nil)},
			[]records.Constraint{records.Within("at", day(2), nil), records.Within("at", nil, day(3))}},
	} {
		var wrong *param.Error
		for what, list := range map[string][]records.Constraint{"bad": c.bad, "good": c.good} {
			_, enforced := records.NewEnforcer(s, list...)
			declared := s.WithConstraints(list...).Validate()
			for _, err := range []error{enforced, declared} {
				if (err == nil) != (what == "good") || err != nil && !errors.As(err, &wrong) {
					t.Errorf("%s, %s: %v", name, what, err)
				}
			}
		}
		if _, err := records.NewEnforcer(records.Binary(2), c.bad...); err == nil {
			t.Errorf("%s: a constraint on vectors", name)
		}
	}
	f := must(records.FromValues(s, []any{1, 2, "S", "S", "y", "", day(2)}))(t)
	none := must(records.NewEnforcer(s))(t)
	if kept, err := none.Keep(f, 9); err != nil || kept != records.Data(f) {
		t.Errorf("no constraint keeps %v, %v", kept, err)
	}
	for _, e := range []*records.Enforcer{none,
		must(records.NewEnforcer(s, records.Within("x", 0, 1)))(t)} {
		other := must(records.FromValues(must(records.NewSchema(columns[0]))(t), []any{1}))(t)
		for _, d := range []records.Data{nil, other} {
			if wrong := (*param.Error)(nil); !errors.As(second(e.Keep(d, 9)), &wrong) {
				t.Errorf("records of another schema are kept: %v", d)
			}
		}
	}
}

// TestTablesOfOtherRows: rows of other schemas, in other numbers, or of other tables are refused by
// Link, Grow and WriteTables.
func TestTablesOfOtherRows(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("x", 0, 9)))(t)
	other := must(records.NewSchema(records.Numeric("z", 0, 9)))(t)
	tables := func(name string) records.Tables {
		return records.Tables{Name: name, Schema: s, Key: "id", Children: []records.Tables{
			{Name: "visits", Schema: s, Most: 2, Parents: []string{"of"}}}}
	}
	d := tables("people")
	rows := must(records.FromValues(s, []any{1}, []any{2}))(t)
	strange := must(records.FromValues(other, []any{1}, []any{2}))(t)
	people := records.Keyed{Rows: rows, Keys: []string{"a", "b"}}
	visits := records.Keyed{Rows: rows, Parents: [][]string{{"a", "b"}}}
	var wrong *param.Error
	for name, list := range map[string][]records.Keyed{
		"one table": {people}, "three tables": {people, visits, visits}, "none": nil,
		"another schema": {people, {Rows: strange, Parents: visits.Parents}},
		"another root":   {{Rows: strange, Keys: people.Keys}, visits},
		"no rows":        {people, {Parents: visits.Parents}},
		"fewer keys":     {{Rows: rows, Keys: []string{"a"}}, visits},
		"no keys":        {{Rows: rows}, visits},
		"fewer parents":  {people, {Rows: rows, Parents: [][]string{{"a"}}}},
		"no parents":     {people, {Rows: rows}},
		"more parents":   {people, {Rows: rows, Parents: [][]string{{"a", "b"}, {"a", "b"}}}},
	} {
		if _, err := records.Link(d, list...); !errors.As(err, &wrong) {
			t.Errorf("Link of %s: %v", name, err)
		}
	}
	linked := must(records.Link(d, people, visits))(t)
	elsewhere := must(records.Link(tables("persons"), people, visits))(t)
	create := func(string) (io.WriteCloser, error) { return discarded{io.Discard}, nil }
	for name, c := range map[string]struct {
		parts []*records.Linked
		good  bool
	}{"the same": {[]*records.Linked{linked, linked}, true},
		"others": {[]*records.Linked{linked, elsewhere}, false}} {
		err := records.CSV{}.WriteTables(create, func(yield func(*records.Linked, error) bool) {
			for _, l := range c.parts {
				if !yield(l, nil) {
					return
				}
			}
		})
		if (err == nil) != c.good || err != nil && !errors.As(err, &wrong) {
			t.Errorf("WriteTables of %s: %v", name, err)
		}
	}
	var full []any
	for _, c := range d.Full().Columns() {
		lo, _ := c.Bounds()
		full = append(full, lo+1)
	}
	roots := must(records.FromValues(d.Full(), full, full))(t)
	_, _, own := d.Seen(0)
	draw := func(s records.Schema, more int) func(int, *records.Nonzeros) (*records.Frame, error) {
		return func(_ int, known *records.Nonzeros) (*records.Frame, error) {
			list := make([][]any, known.Rows+more)
			for i := range list {
				for range s.Columns() {
					list[i] = append(list[i], 1)
				}
			}
			return records.FromValues(s, list...)
		}
	}
	if _, err := records.Grow(d, roots, draw(own, 0)); err != nil {
		t.Errorf("Grow: %v", err)
	}
	for name, err := range map[string]error{
		"no roots":       second(records.Grow(d, nil, draw(own, 0))),
		"other roots":    second(records.Grow(d, rows, draw(own, 0))),
		"a row more":     second(records.Grow(d, roots, draw(own, 1))),
		"another schema": second(records.Grow(d, roots, draw(other, 0))),
	} {
		if !errors.As(err, &wrong) {
			t.Errorf("Grow with %s: %v", name, err)
		}
	}
}

type discarded struct{ io.Writer }

func (discarded) Close() error { return nil }

// circle is data that embed themselves.
type circle struct{ records.Data }

// TestWrappersInACircle: data that lead back to themselves are nobody's records, and end.
func TestWrappersInACircle(t *testing.T) {
	c := &circle{}
	c.Data = c
	x := must(records.FromFlat(records.Binary(1), []float32{1}))(t)
	if records.DeclarePublic(c).Overlaps(x) || records.DeclarePublic(x).Overlaps(c) {
		t.Error("data in a circle overlap others")
	}
	var nobody *records.Frame
	var none *records.Table
	var empty *records.SetTable
	for _, d := range []records.Data{nobody, none, empty, nil} {
		if records.DeclarePublic(d).Overlaps(x) || records.DeclarePublic(x).Overlaps(d) {
			t.Errorf("%T without records overlaps others", d)
		}
	}
}

// TestColumnsThatCannotBe: what a column may not declare, and the nearest that it may.
func TestColumnsThatCannotBe(t *testing.T) {
	at := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		column records.Column
		good   bool
	}{
		"the first year": {records.Datetime("c", at(1), at(2), time.Hour), true},
		"the year 0":     {records.Datetime("c", at(0), at(2), time.Hour), false},
		"the last year": {records.Datetime("c", at(9998), at(9999), time.Hour),
			true},
		"the year 10000": {records.Datetime("c", at(9999), at(10000), time.Hour),
			false},
		"a logarithmic time": {records.Datetime("c", at(1), at(2),
			time.Hour).Logarithmic(), false},
		"parts": {records.Datetime("c", at(1), at(2),
			time.Hour).WithParts(1), true},
		"other parts": {records.Datetime("c", at(1), at(2),
			time.Hour).WithParts(1 << 7), false},
		"parts of a number":                 {records.Numeric("c", 0, 1).WithParts(1), false},
		"a precision as long as the bounds": {records.Duration("c", 0, time.Hour, time.Hour), true},
		"a longer precision":                {records.Duration("c", 0, time.Hour, 2*time.Hour), false},
		"no precision":                      {records.Duration("c", 0, time.Hour, 0), false},
		"a negative precision":              {records.Datetime("c", at(1), at(2), -1), false},
		"hashed bounds":                     {records.Hashed("c", 9).WithBounds(0, 1), false},
		"a hashed logarithm":                {records.Hashed("c", 9).Logarithmic(), false},
		"hashed":                            {records.Hashed("c", 9), true},
		"an alias of a number":              {records.Numeric("c", 0, 1).WithAlias("x", "y"), false},
		"levels of a number":                {records.Numeric("c", 0, 1).WithLevels("x"), false},
		"a missing identifier": {records.Identifier("c", records.UUID()).WithMissing(),
			false},
		"no rule":                 {records.Identifier("c", records.IdentifierRule{}), false},
		"whole bounds 2^62 apart": {records.Integer("c", math.MinInt/4, -(math.MinInt / 4)), true},
		"whole bounds 2^63 apart": {records.Integer("c", math.MinInt/2, -(math.MinInt / 2)),
			strconv.IntSize == 32}, // where they are 2^31 apart
	} {
		s, err := records.NewSchema(records.Flag("f", "n", "y"), c.column)
		if err == nil {
			err = s.Validate()
		}
		if (err == nil) != c.good || err != nil && !strings.Contains(err.Error(), `"c"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names := make([]string, 1<<20+1)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	for n, good := range map[int]bool{2: true, 1<<20 + 1: false} {
		if err := records.Binary(2).WithLabels(names[:n]...).Validate(); (err == nil) != good {
			t.Errorf("%d classes: %.200v", n, err)
		}
	}
}
