package draft_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// drafted returns the draft of rows of a table, whose candidates are its schema.
func drafted(t *testing.T, s records.Schema, epsilon float64, rows [][]any) *draft.Draft {
	t.Helper()
	data, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: epsilon, Delta: 1e-6}
	p, err := draft.Config{Candidates: s, Budget: b, FalseAlarm: 1e-9}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	d, err := draft.Fit(t.Context(), p, data, ledger.New(b))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestConstraintsStay: the drafted schema has the constraints of the candidates, in their order,
// without values that are not kept. Otherwise rows of its generators would break them.
func TestConstraintsStay(t *testing.T) {
	s, err := records.NewSchema(records.Integer("from", 0, 1000), records.Integer("to", 0, 1000),
		records.Categorical("town", "Basel", "Chur", "other").WithOther("other"))
	if err != nil {
		t.Fatal(err)
	}
	s = s.WithConstraints(records.Ascending("from", "to"), records.Only("town", "Basel", "Chur"),
		records.Within("from", 5, nil).Repaired(), records.Only("town", "Basel", "other"))
	var rows [][]any
	for i := range 3000 {
		rows = append(rows, []any{i % 20, 20 + i%20, "Basel"})
	}
	d := drafted(t, s, 10, rows)
	all := s.Constraints() // noise alone keeps Chur in one of 1e9 runs
	want := fmt.Sprint([]records.Constraint{all[0], records.Only("town", "Basel"), all[2], all[3]})
	if got := d.Schema.Constraints(); fmt.Sprint(got) != want {
		t.Errorf("levels %q, constraints %v; want %s", d.Schema.Columns()[2].Levels(), got, want)
	}
	if err := d.Schema.Validate(); err != nil {
		t.Error(err)
	}
}

// TestPartsOfConstraintsStay: of a constraint on values that are not all kept, the schema has what
// its columns can have. Columns of ordered levels that are compared keep the same levels.
func TestPartsOfConstraintsStay(t *testing.T) {
	levels := []string{"none", "low", "mid", "high", "top"}
	town := records.Categorical("town", "Basel", "Chur", "Bonn", "other").WithOther("other")
	s, err := records.NewSchema(records.Ordinal("a", levels...).WithMissing(),
		records.Ordinal("b", levels...), records.Ordinal("c", levels...), records.Ordinal("d", levels...),
		town, records.Categorical("land", "CH", "D", "other").WithOther("other"),
		records.Integer("n", 0, 1000))
	if err != nil {
		t.Fatal(err)
	}
	where := []string{"town", "land"}
	s = s.WithConstraints(records.Ascending("a", "b"), records.StrictlyAscending("b", "c"),
		records.Within("d", "none", "mid"), records.Within("d", "low", "top").OrMissing(),
		records.Within("d", "high", nil), records.Only("a", "low", "top", nil),
		records.Combinations(where, []string{"Basel", "CH"}, []string{"Chur", "CH"},
			[]string{"Bonn", "D"}, []string{"other", "other"}).Repaired(),
		records.Determines(where, []string{"Chur", "CH"}, []string{"Basel", "CH"}),
		records.Determines(where, []string{"Chur", "CH"}), records.Only("town", "Chur"),
		records.Only("n", 3, 900), records.Unique("a", "town"))
	var rows [][]any
	for i := range 3000 {
		rows = append(rows, []any{"low", "mid", "high", levels[1+i%2], "Basel", "CH", i % 20})
	}
	d := drafted(t, s, 100, rows)
	got, _ := json.Marshal(d.Schema.Constraints())
	want, _ := json.Marshal([]records.Constraint{records.Ascending("a", "b"),
		records.StrictlyAscending("b", "c"), records.Within("d", "low", "mid"),
		records.Within("d", "low", "mid").OrMissing(), records.Only("a", "low", "top"),
		records.Combinations(where, []string{"Basel", "CH"}, []string{"other", "other"}).Repaired(),
		records.Determines(where, []string{"Basel", "CH"}), records.Determines(where),
		records.Only("n", 3), records.Unique("a", "town")})
	if string(got) != string(want) {
		t.Errorf("constraints\n%s, want\n%s", got, want)
	}
	for _, c := range d.Schema.Columns()[:3] {
		if !slices.Equal(c.Levels(), levels[1:]) || c.HasMissing() {
			t.Errorf("%v, want the levels %q", c, levels[1:])
		}
	}
	if err := d.Schema.Validate(); err != nil {
		t.Error(err)
	}
}

// TestMissingValuesStayAllowed: of a rule whose values are all lost the schema keeps that a value
// may be missing. Without the rule, generated rows could have any value.
func TestMissingValuesStayAllowed(t *testing.T) {
	s, err := records.NewSchema(
		records.Categorical("town", "Basel", "Chur", "other").WithOther("other").WithMissing(),
		records.Ordinal("class", "low", "mid", "high").WithMissing())
	if err != nil {
		t.Fatal(err)
	}
	s = s.WithConstraints(records.Only("town", "Chur").OrMissing(),
		records.Within("class", "high", nil).OrMissing().Repaired())
	var rows [][]any
	for i := range 3000 {
		rows = append(rows, []any{"Basel", "low"}, []any{nil, []any{nil, "mid"}[i%2]})
	}
	d := drafted(t, s, 100, rows)
	want := fmt.Sprint([]records.Constraint{records.Only("town", nil),
		records.Only("class", nil)}) // noise alone keeps a level in one of 1e9 runs
	if got := fmt.Sprint(d.Schema.Constraints()); got != want {
		t.Errorf("constraints %s, want %s", got, want)
	}
}
