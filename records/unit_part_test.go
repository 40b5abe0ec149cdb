package records_test

import (
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestNothingPromisesParts: no ledger accepts rows of users who may have several rows, whatever
// unit the ledger promises, unless the caller states another unit.
func TestNothingPromisesParts(t *testing.T) {
	sets := made(t, 3, 99)
	users := records.WithUnit(sets, records.UnitUser)
	row := must(records.FromFlat(records.Binary(2), []float32{0, 1}))(t)
	for name, parts := range map[string][]records.Data{
		"sets of users":        {users, users},
		"sets of both":         {sets, users},
		"vectors of users":     {records.WithUnit(row, "household"), records.WithUnit(row, "household")},
		"rows that are joined": {records.WithUnit(sets, records.UnitPart)},
	} {
		d := must(records.Concat(parts[0].Schema(), parts...))(t)
		for _, promised := range []string{records.UnitRecord, records.UnitUser, "household",
			records.UnitPart} {
			if records.CheckUnitOf("data", d, promised) == nil {
				t.Errorf("%s: a ledger that promises %s accepts %s", name, promised,
					records.UnitOf(d))
			}
		}
		known := records.WithUnit(d, records.UnitUser)
		if err := records.CheckUnitOf("data", known, records.UnitUser); err != nil {
			t.Errorf("%s: CheckUnitOf returns %v", name, err)
		}
	}
	for want, parts := range map[string][]records.Data{
		records.UnitUser:   {users},
		records.UnitRecord: {sets, sets},
		"household":        {records.WithUnit(row, "household")},
	} {
		d, err := records.Concat(parts[0].Schema(), parts...)
		if err != nil || records.UnitOf(d) != want {
			t.Errorf("joined: got unit %s, want %s (error %v)", records.UnitOf(d), want, err)
		}
	}
}

// TestEnforcedRecordsStayTheirUsers checks records of users after an Enforcer and after
// WithIdentifiers. They must keep their unit and their part, and overlap with the original data.
func TestEnforcedRecordsStayTheirUsers(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("n", 0, 9),
		records.Identifier("id", records.Pattern("C-###"))))(t)
	frame := must(records.CSV{Header: true}.ReadFrame(strings.NewReader("id,n\nx,1\ny,2\nz,9\n"),
		s))(t)
	sets := must(records.FromItems(records.Sets(9, 3), [][]uint32{{1}, {2}, {1, 3}}))(t)
	rule := func(s records.Schema, c records.Constraint) *records.Enforcer {
		return must(records.NewEnforcer(s, c))(t)
	}
	numbers := rule(s, records.Within("n", 0, 5))
	items := rule(sets.Schema(), records.HasItems(1))
	some := must(records.GroupBy(must(records.FromValues(must(records.NewSchema(
		records.Numeric("n", 0, 9)))(t), []any{1.}, []any{2.}))(t), []int{1, 1}, 2))(t)
	persons := rule(some.Schema(), records.Within("n", 0, 5))
	keeps := func(e *records.Enforcer) func(records.Data) (records.Data, error) {
		return func(d records.Data) (records.Data, error) { return e.Keep(d, 9) }
	}
	for name, c := range map[string]struct {
		of   records.Data
		make func(records.Data) (records.Data, error)
	}{
		"rows":         {frame, keeps(numbers)},
		"rows in view": {other{frame}, keeps(numbers)},
		"sets":         {sets, keeps(items)},
		"persons":      {some, keeps(persons)},
		"identifiers": {frame, func(d records.Data) (records.Data, error) {
			return records.WithIdentifiers(d, 0, 1)
		}},
	} {
		for _, d := range []records.Data{c.of, records.WithUnit(c.of, records.UnitUser),
			records.WithPart(records.WithUnit(c.of, records.UnitUser), 1, 3),
			records.WithUnit(c.of, records.UnitPart)} {
			out, err := c.make(d)
			if err != nil {
				t.Fatalf("%s: got error %v, want none", name, err)
			}
			part, parts := records.PartOf(d)
			if p, n := records.PartOf(out); records.UnitOf(out) != records.UnitOf(d) || p != part ||
				n != parts {
				t.Errorf("%s: got part %d of %d, unit %s, want part %d of %d, unit %s", name, p, n,
					records.UnitOf(out), part, parts, records.UnitOf(d))
			}
			if name != "rows in view" && !records.DeclarePublic(out).Overlaps(d) {
				t.Errorf("%s: the result does not overlap with its input", name)
			}
			if out.Len() == 0 {
				t.Errorf("%s: nothing is kept", name)
			}
		}
	}
}

// around is a user-defined type around data, which states no unit.
type around struct{ records.Data }

// TestWrappersKeepTheUnit checks that a structure around data has the unit of the data, even if
// another structure embeds it. Persons in such a structure must be refused, since the structure
// does not tell whose rows are whose.
func TestWrappersKeepTheUnit(t *testing.T) {
	rows := must(records.FromFlat(records.Interval(1, 0, 1), []float32{.1, .2, .3}))(t)
	users := records.WithUnit(rows, records.UnitUser)
	for name, d := range map[string]records.Data{"a wrapper": around{users},
		"a pointer to it": &around{users}, "a wrapper of a wrapper": around{&around{users}}} {
		if got := records.UnitOf(d); got != records.UnitUser {
			t.Errorf("%s has unit %q", name, got)
		}
		if records.CheckUnitOf("x", d, records.UnitRecord) == nil {
			t.Errorf("%s is accepted on a ledger that promises records", name)
		}
	}
	circle := &around{}
	circle.Data = circle
	if got := records.UnitOf(circle); got != records.UnitPart {
		t.Errorf("wrappers in a circle have unit %q", got)
	}
	if got := records.UnitOf(around{rows}); got != records.UnitRecord {
		t.Errorf("a wrapper of records has unit %q", got)
	}
	persons := must(records.GroupBy(rows, []int{0, 0, 1}, 1))(t)
	for _, unit := range []string{records.UnitRecord, records.UnitUser} {
		if records.CheckUnitOf("x", around{persons}, unit) == nil {
			t.Errorf("persons in a wrapper are accepted on a ledger that promises one %s", unit)
		}
	}
	if records.CheckUnitOf("x", records.WithUnit(persons, records.UnitRecord),
		records.UnitRecord) == nil {
		t.Error("persons that are called records are accepted on a ledger of records")
	}
}

// inPart is a wrapper that states the part of its records.
type inPart struct {
	records.Data
	part, parts int
}

func (p inPart) Part() (int, int) { return p.part, p.parts }

// TestPartsOfWrappers checks which data state a part: wrappers that say so, what this package makes
// of one data set, and nothing that may hold the records of another part.
func TestPartsOfWrappers(t *testing.T) {
	sets := must(records.FromItems(records.Sets(9, 3), [][]uint32{{1}, {2}, {1, 3}}))(t)
	rows := must(records.FromFlat(records.Interval(1, 0, 1), []float32{.1, .2, .3}))(t)
	table := must(records.FromValues(must(records.NewSchema(records.Numeric("n", 0, 9)))(t),
		[]any{1.}, []any{2.}))(t)
	for _, d := range []records.Data{sets, rows, table} {
		for _, unit := range []string{records.UnitRecord, records.UnitUser} {
			one := records.WithPart(records.WithUnit(d, unit), 1, 3)
			other := records.WithPart(records.WithUnit(d, unit), 2, 3)
			for name, c := range map[string]struct {
				data        records.Data
				part, parts int
			}{
				"stated":                     {one, 1, 3},
				"a wrapper":                  {inPart{one, 1, 3}, 1, 3},
				"a wrapper in a wrapper":     {&struct{ inPart }{inPart{one, 2, 4}}, 2, 4},
				"a clamped wrapper":          {records.Clamped(inPart{one, 1, 3}), 1, 3},
				"a unit":                     {records.WithUnit(inPart{one, 1, 3}, unit), 1, 3},
				"a copy":                     {must(records.Concat(d.Schema(), one))(t), 1, 3},
				"a copy of a wrapper":        {must(records.Concat(d.Schema(), inPart{one, 1, 3}))(t), 1, 3},
				"two parts":                  {must(records.Concat(d.Schema(), one, other))(t), 0, 0},
				"the same part twice":        {must(records.Concat(d.Schema(), one, one))(t), 0, 0},
				"a wrapper that states none": {around{one}, 0, 0},
				"no part":                    {inPart{one, 3, 3}, 0, 0},
				"a negative part":            {inPart{one, -1, 3}, 0, 0},
			} {
				part, parts := records.PartOf(c.data)
				if part != c.part || parts != c.parts {
					t.Errorf("%v, %s, %s: part %d of %d, want %d of %d", d.Schema(), unit, name, part, parts,
						c.part, c.parts)
				}
			}
			if got := records.UnitOf(must(records.Concat(d.Schema(), one))(t)); got != unit {
				t.Errorf("%v: a copy of one %s is one %s", d.Schema(), unit, got)
			}
		}
	}
}
