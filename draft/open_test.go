package draft_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// towns returns rows with an open column of at most three towns and, if numbers is set, an age.
func towns(t *testing.T, numbers bool, rows map[string]int) *records.Frame {
	t.Helper()
	columns := []records.Column{records.Hashed("town", 4).WithOther("elsewhere").WithMissing()}
	if numbers {
		columns = append(columns, records.Integer("age", 0, 1000))
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		t.Fatal(err)
	}
	for town, n := range rows {
		for range n {
			values := []any{town, 40}
			if err := b.Append(values[:len(columns)]...); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Frame()
}

// TestOpenLevels checks that texts of large counts become levels, also in a stream, that no text of
// a single row does, and that the ledger holds both releases within the budget.
func TestOpenLevels(t *testing.T) {
	counts := map[string]int{"Basel": 1900, "Bern": 1800, "Chur": 1700, "Davos": 900, "alone": 1,
		"elsewhere": 5000}
	for _, numbers := range []bool{false, true} {
		for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne,
			accountant.ReplaceOne} {
			data := towns(t, numbers, counts)
			budget := accountant.Budget{Epsilon: 1, Delta: 1e-9, Relation: relation}
			p, err := draft.Config{Candidates: data.Schema(), Budget: budget}.Plan()
			if err != nil {
				t.Fatal(err)
			}
			if p.Open != 1 || p.OpenThreshold < 10 || p.OpenThreshold > 300 {
				t.Errorf("%d open columns with the threshold %v", p.Open, p.OpenThreshold)
			}
			l := ledger.New(budget)
			d, err := draft.Fit(t.Context(), p, data, l)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"Basel", "Bern", "Chur", "elsewhere"}
			if got := d.Schema.Columns()[0].Levels(); !slices.Equal(got, want) {
				t.Errorf("levels %q, want %q", got, want)
			}
			if e := l.Entries(); e[len(e)-1].Purpose != draft.PurposeLevels {
				t.Errorf("the last line of the ledger is %+v", e[len(e)-1])
			}
			if g := d.Guarantee; g.Epsilon > 1 || g.Epsilon < 0.98 {
				t.Errorf("the guarantee is ε = %v, want 1", g.Epsilon)
			}
			parts := func(yield func(records.Data, error) bool) {
				_ = yield(data.Slice(0, 3000), nil) && yield(data.Slice(3000, data.Len()), nil)
			}
			d, err = draft.FitStream(t.Context(), p, parts, ledger.New(budget))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Schema.Columns()[0].Levels(); !slices.Equal(got, want) {
				t.Errorf("of a stream: levels %q, want %q", got, want)
			}
		}
	}
}

// TestOpenLevelsOfPersons: a person counts once, for the most frequent text.
func TestOpenLevelsOfPersons(t *testing.T) {
	var frames []records.Data
	var persons []int
	for person := range 200 {
		frames = append(frames, towns(t, false, map[string]int{"Bern": 3}),
			towns(t, false, map[string]int{fmt.Sprint("town ", person%5): 2}))
		persons = append(persons, slices.Repeat([]int{person}, 5)...)
	}
	frames = append(frames, towns(t, false, map[string]int{"alone": 400}))
	persons = append(persons, slices.Repeat([]int{-7}, 400)...)
	rows, err := records.Concat(frames[0].Schema(), frames...)
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.GroupBy(rows, persons, 500)
	if err != nil {
		t.Fatal(err)
	}
	budget := accountant.Budget{Epsilon: 2, Delta: 1e-9}
	p, err := draft.Config{Candidates: data.Schema(), Budget: budget}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	d, err := draft.Fit(t.Context(), p, data, ledger.New(budget, ledger.WithUnit(records.UnitUser)))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Schema.Columns()[0].Levels(); !slices.Equal(got, []string{"Bern", "elsewhere"}) {
		t.Errorf("levels %q, want Bern and elsewhere", got)
	}
}

// TestOpenLevelsRefusals: shards do not count texts, and δ must be positive.
func TestOpenLevelsRefusals(t *testing.T) {
	s := towns(t, true, nil).Schema()
	p, err := draft.Config{Candidates: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var wrong *param.Error
	if _, err := p.NewPartial(); !errors.As(err, &wrong) {
		t.Errorf("shards: %v", err)
	}
	_, err = draft.Config{Candidates: s, Budget: accountant.Budget{Epsilon: 1}}.Plan()
	if !errors.As(err, &wrong) {
		t.Errorf("δ = 0: %v", err)
	}
}

// TestOpenLevelsInShardsCostNothing: texts are not counted in shards. This is known before anything
// is reserved.
func TestOpenLevelsInShardsCostNothing(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	p, err := draft.Config{Candidates: towns(t, true, nil).Schema(), Budget: b}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	l, read := ledger.New(b), false
	_, err = draft.FitPasses(t.Context(), p, func(context.Context) (*mechanism.Partial, error) {
		read = true
		return p.NewPartial()
	}, l)
	if !errors.As(err, new(*param.Error)) || read || len(l.Entries()) > 0 {
		t.Errorf("%v, records were read: %v, on the ledger: %+v", err, read, l.Entries())
	}
}

// TestOpenLevelsAtTinyDeltas: a plan may have the smallest δ that a budget may have.
func TestOpenLevelsAtTinyDeltas(t *testing.T) {
	for _, delta := range []float64{1e-9, 1e-18, accountant.MinDelta} {
		p, err := draft.Config{Candidates: towns(t, true, nil).Schema(),
			Budget: accountant.Budget{Epsilon: 2, Delta: delta}}.Plan()
		if err != nil {
			t.Fatalf("δ = %g: %v", delta, err)
		}
		if !(p.Total.Upper <= 2 && p.OpenThreshold > 1 && p.OpenThreshold < 1e3) {
			t.Errorf("δ = %g: ε = %v, threshold %v", delta, p.Total.Upper, p.OpenThreshold)
		}
	}
}
