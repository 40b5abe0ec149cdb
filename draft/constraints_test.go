package draft_test

import (
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestConstraintsStay: the drafted schema has the constraints of the candidates, in their order,
// except those on a level that is not kept. Otherwise rows of its generators would break them.
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
	data, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 10, Delta: 1e-6}
	p, err := draft.Config{Candidates: s, Budget: b, FalseAlarm: 1e-9}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	d, err := draft.Fit(t.Context(), p, data, ledger.New(b))
	if err != nil {
		t.Fatal(err)
	}
	all := s.Constraints()
	want := fmt.Sprint(all[0], all[2], all[3]) // noise alone keeps Chur in one of 1e9 runs
	if got := d.Schema.Constraints(); len(got) != 3 || fmt.Sprint(got[0], got[1], got[2]) != want {
		t.Errorf("levels %q, constraints %v; want %s", d.Schema.Columns()[2].Levels(), got, want)
	}
	if err := d.Schema.Validate(); err != nil {
		t.Error(err)
	}
}
