package records_test

import (
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestDifference: the text names the difference, and is empty if there is none.
func TestDifference(t *testing.T) {
	table := func(columns ...records.Column) records.Schema {
		return must(records.NewSchema(columns...))(t)
	}
	age, ward := records.Integer("age", 0, 100), records.Categorical("ward", "north", "south")
	for _, c := range []struct {
		given, want records.Schema
		says        []string
	}{
		{table(age), table(age), nil},
		{table(age, ward), table(age), []string{"tables of 2 columns", "want tables of 1 columns"}},
		{table(age), table(records.Integer("age", 0, 90)),
			[]string{"column 1", "age: integer [0, 100]", "want age: integer [0, 90]"}},
		{records.Interval(3, 0, 1), table(age), []string{"vectors of 3", "want tables"}},
		{records.Interval(3, 0, 1).WithLabels("a", "b"), records.Interval(3, 0, 1).WithLabels("a", "c"),
			[]string{`["a" "b"]`, `want ["a" "c"]`}},
	} {
		got := records.Difference(c.given, c.want)
		if (got == "") != (c.says == nil) {
			t.Errorf("%v and %v: got difference %q", c.given, c.want, got)
		}
		for _, says := range c.says {
			if !strings.Contains(got, says) {
				t.Errorf("%q does not say %q", got, says)
			}
		}
	}
}

// TestConstraintErrorsNameWhatIsAccepted: an error about a constraint lists the existing columns or
// values.
func TestConstraintErrorsNameWhatIsAccepted(t *testing.T) {
	s := must(records.NewSchema(records.Integer("age", 0, 100),
		records.Categorical("ward", "north", "south"),
		records.Identifier("id", records.UUID())))(t)
	for _, c := range []struct {
		constraint records.Constraint
		says       []string
	}{
		{records.Only("agee", 3), []string{`"agee"`, `one of the columns "age", "ward"`}},
		{records.Only("id", 3), []string{"not an identifier"}},
		{records.Only("ward", "east"), []string{`"east"`, `["north" "south"]`}},
		{records.Only("age", 200), []string{`"200"`, "[0, 100]"}},
		{records.Within("ward", 1, 2), []string{"column with an order", `["north" "south"]`}},
		{records.Within("age", 9, 1), []string{"[9, 1]", "[0, 100]"}},
		{records.Ascending("ward", "age"), []string{"ward: categorical", "age: integer"}},
		{records.Unique("age", "age"), []string{`"age" twice`, "each column once"}},
		{records.Combinations([]string{"age", "ward"}, []string{"1"}),
			[]string{"row 0 of 1 values", `2, one for each of ["age" "ward"]`}},
	} {
		_, err := records.NewEnforcer(s, c.constraint)
		if err == nil {
			t.Errorf("%v is accepted", c.constraint)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%v does not say %q", err, says)
			}
		}
	}
}
