package draft_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// TestPersons checks that a draft of persons protects persons. The plan and the guarantee must
// state the rows per person. Pieces of a stream that may share a user must be an error.
func TestPersons(t *testing.T) {
	ctx := context.Background()
	schema, err := records.NewSchema(records.Numeric("x", 0, 1), records.Categorical("c", "p", "q"))
	if err != nil {
		t.Fatal(err)
	}
	var flat []float32
	var keys []int
	for i := range 400 {
		flat, keys = append(flat, 0.5, 0, 1), append(keys, i/4)
	}
	rows, err := records.DecodeFlat(schema, flat)
	if err != nil {
		t.Fatal(err)
	}
	persons, err := records.GroupBy(rows, keys, 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := draft.Config{Candidates: persons.Schema(),
		Budget: accountant.Budget{Epsilon: 50, Delta: 1e-5}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	users := func() *ledger.Ledger {
		return ledger.New(p.Config.Budget, ledger.WithUnit(records.UnitUser))
	}
	stream := func(parts ...records.Data) iter.Seq2[records.Data, error] {
		return func(yield func(records.Data, error) bool) {
			for _, d := range parts {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
	d, err := draft.Fit(ctx, p, persons, users())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.String(), "at most 3 are read") || d.Guarantee.RowsPerUnit != 3 ||
		d.Guarantee.Unit != records.UnitUser {
		t.Errorf("the plan or the guarantee does not protect users of 3 rows:\n%v\n%v", p, d.Guarantee)
	}
	a, b := persons.Slice(0, 50), persons.Slice(50, 100)
	part := func(d records.Data, i int) records.Data { return records.WithPart(d, i, 2) }
	if _, err := draft.FitStream(ctx, p, stream(part(a, 0), part(b, 1)), users()); err != nil {
		t.Error(err)
	}
	asUsers := func(d records.Data) records.Data { return records.WithUnit(d, records.UnitUser) }
	byRow, err := draft.Config{Candidates: schema, Budget: p.Config.Budget}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	fit := func(p *draft.Plan, d records.Data, l *ledger.Ledger) error {
		_, err := draft.Fit(ctx, p, d, l)
		return err
	}
	pieces := func(p *draft.Plan, parts ...records.Data) error {
		_, err := draft.FitStream(ctx, p, stream(parts...), users())
		return err
	}
	for name, err := range map[string]error{
		"on a ledger of records":    fit(p, persons, ledger.New(p.Config.Budget)),
		"rows by a plan of others":  fit(p, asUsers(rows), users()),
		"persons by a plan of rows": fit(byRow, persons, users()),
		"two pieces":                pieces(p, a, b),
		"one piece without a part":  pieces(p, part(a, 1), b),
		"parts of other numbers":    pieces(p, part(a, 0), records.WithPart(b, 1, 3)),
		"one part twice":            pieces(p, part(a, 1), part(b, 1)),
		"two pieces of users":       pieces(byRow, asUsers(rows.Slice(0, 9)), asUsers(rows.Slice(9, 99))),
	} {
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
	for name, call := range map[string]func(l *ledger.Ledger) error{
		"persons":  func(l *ledger.Ledger) error { return fit(p, persons, l) },
		"a stream": func(l *ledger.Ledger) error { return streamed(p, stream(persons), l) },
		"none":     func(l *ledger.Ledger) error { return streamed(p, stream(), l) },
		"sums": func(l *ledger.Ledger) error {
			_, err := draft.FitPasses(ctx, p, func(context.Context) (*mechanism.Partial, error) {
				return p.NewPartial()
			}, l)
			return err
		},
	} {
		l := ledger.New(p.Config.Budget)
		if err := call(l); !errors.As(err, new(*param.Error)) || len(l.Entries()) > 0 {
			t.Errorf("%s on a ledger of records: error %v, and %d entries are paid for", name, err,
				len(l.Entries()))
		}
		if err := call(users()); err != nil {
			t.Errorf("%s on a ledger of users: %v", name, err)
		}
	}
}

func streamed(p *draft.Plan, parts iter.Seq2[records.Data, error], l *ledger.Ledger) error {
	_, err := draft.FitStream(context.Background(), p, parts, l)
	return err
}
