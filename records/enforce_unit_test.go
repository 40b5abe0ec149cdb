package records_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestWhatIsKeptAcrossRecordsIsOfNoUser checks the unit of the users' rows that constraints keep.
// The unit stays the user if every row is examined by itself. It is UnitPart if a row of one user
// decides about rows of others.
func TestWhatIsKeptAcrossRecordsIsOfNoUser(t *testing.T) {
	s := must(records.NewSchema(records.Categorical("zip", "a", "b"),
		records.Categorical("city", "x", "y"), records.Integer("age", 0, 9)))(t)
	rows := must(records.FromValues(s, []any{"a", "y", 1}, []any{"a", "x", 2}, []any{"b", "x", 3}))(t)
	users := records.WithUnit(rows, records.UnitUser)
	for _, c := range []struct {
		rule records.Constraint
		most int
		want string
	}{
		{records.Within("age", 0, 5), 3, records.UnitUser},
		{records.Within("age", 0, 5), 2, records.UnitPart},
		{records.Determines([]string{"zip", "city"}), 3, records.UnitPart},
		{records.Unique("age"), 3, records.UnitPart},
	} {
		e := must(records.NewEnforcer(s, c.rule))(t)
		kept := must(e.Keep(users, c.most))(t)
		if got := records.UnitOf(kept); got != c.want {
			t.Errorf("%s, at most %d rows: unit %q, want %q", c.rule, c.most, got, c.want)
		}
	}
}
