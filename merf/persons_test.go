package merf_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// people returns persons of two classes with one to five rows. At most two rows of a person are
// read.
func people(t *testing.T, persons int) *records.Persons {
	t.Helper()
	var flat []float32
	var labels []int32
	var keys []int
	for i := range persons {
		for j := range 1 + i%5 {
			flat = append(flat, float32(i)/float32(persons), float32(j)/5)
			labels = append(labels, int32((i+j)%3/2))
			keys = append(keys, 1000-7*i)
		}
	}
	d := must(records.FromFlat(records.Interval(2, 0, 1).WithLabels("a", "b"), flat, labels...))(t)
	return must(records.GroupBy(d, keys, 2))(t)
}

func personPlan(t *testing.T, s records.Schema, r accountant.Relation) *merf.Plan {
	t.Helper()
	p := must(merf.Config{Schema: s, Features: 40,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: r},
		Generator: merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{4}}, Latent: 2, Steps: 3,
			Batch: 8}}.Plan())(t)
	return p
}

// TestPersonsCountAsOne checks that every person counts as 1, with any number of rows. The noise
// must be the same as in a plan for rows.
func TestPersonsCountAsOne(t *testing.T) {
	d := people(t, 500)
	b := accountant.Budget{Epsilon: 1000, Delta: 1e-5}
	p := must(merf.Config{Schema: d.Schema(), Features: 40, Budget: b}.Plan())(t)
	rows := must(merf.Config{Schema: d.Rows().Schema(), Features: 40, Budget: b}.Plan())(t)
	if p.SumStd != rows.SumStd || p.CountStd != rows.CountStd {
		t.Errorf("noise ±%v and ±%v for persons, ±%v and ±%v for rows, want the same", p.SumStd,
			p.CountStd, rows.SumStd,
			rows.CountStd)
	}
	l := ledger.New(b, ledger.WithUnit(records.UnitUser))
	e := must(p.Embed(context.Background(), l, d))(t)
	total := e.Counts()[0] + e.Counts()[1]
	if math.Abs(total-500) > 12*p.CountStd { // one false alarm in 10^15 runs
		t.Errorf("500 persons are counted as %v ± %v", total, p.CountStd)
	}
}

// TestPersonsInWords checks that the text of a plan and the guarantee state the units of persons
// and of rows. A plan's file must keep them.
func TestPersonsInWords(t *testing.T) {
	d := people(t, 20)
	plan := personPlan(t, d.Schema(), accountant.AddOrRemoveOne)
	for _, want := range []string{"one user", "at most 2 are read", "ε = 1", "at most 2 per person"} {
		if !strings.Contains(plan.String(), want) {
			t.Errorf("the plan does not say %q:\n%v", want, plan)
		}
	}
	text := must(json.Marshal(plan))(t)
	back, err := synth.Systems{merf.System()}.ReadPlan(text)
	if err != nil || back.Schema().RowsPerPerson() != 2 {
		t.Fatalf("the loaded plan is %v, error %v; want 2 rows per person", back, err)
	}
	gen := must(back.Fit(context.Background(), d))(t)
	if s := gen.Schema(); s.RowsPerPerson() != 0 {
		t.Errorf("generated records have schema %v, want no persons", s)
	}
	g := gen.Guarantee()
	if eps, delta := g.OneRow(); g.Unit != records.UnitUser || g.RowsPerUnit != 2 ||
		eps != 2*g.Epsilon || !(delta >= (1+math.Exp(g.Epsilon))*g.Delta) || delta > 4*g.Delta {
		t.Errorf("the guarantee is for one %s of %d rows; for a row ε = %v, δ = %v", g.Unit,
			g.RowsPerUnit, eps, delta)
	}
	for _, want := range []string{"one user", "at most 2 are read", "one row"} {
		if !strings.Contains(g.String(), want) {
			t.Errorf("the guarantee does not say %q:\n%v", want, g)
		}
	}
	if g.Relation = accountant.ReplaceOne; true {
		if eps, delta := g.OneRow(); eps != g.Epsilon || delta != g.Delta {
			t.Errorf("under replace-one a row has ε = %v, δ = %v, want the person's", eps, delta)
		}
	}
}

// TestPersonsAreRefused checks that persons are refused if the plan, the ledger or the sum is for
// another unit. Nothing may be spent.
func TestPersonsAreRefused(t *testing.T) {
	ctx, d := context.Background(), people(t, 20)
	persons := personPlan(t, d.Schema(), accountant.AddOrRemoveOne)
	rows := personPlan(t, d.Rows().Schema(), accountant.AddOrRemoveOne)
	users := ledger.New(persons.Budget(), ledger.WithUnit(records.UnitUser))
	plain := ledger.New(persons.Budget())
	two := func(stated bool) iter.Seq2[records.Data, error] {
		return func(yield func(records.Data, error) bool) {
			for i := range 2 {
				var piece records.Data = d.Slice(10*i, 10*i+10)
				if stated {
					piece = records.WithPart(piece, i, 2)
				}
				if !yield(piece, nil) {
					return
				}
			}
		}
	}
	shards := func() []*mechanism.Partial {
		s := persons.NewPartial()
		if err := s.Add(ctx, d); err != nil {
			t.Fatal(err)
		}
		return []*mechanism.Partial{s}
	}
	fit := func(p *merf.Plan, l *ledger.Ledger, d records.Data) error {
		_, err := p.FitOn(ctx, l, d)
		return err
	}
	embed := func(l *ledger.Ledger, stream iter.Seq2[records.Data, error]) error {
		_, err := persons.EmbedStream(ctx, l, stream)
		return err
	}
	release := func(l *ledger.Ledger) error {
		_, err := persons.Release(ctx, l, shards())
		return err
	}
	for name, err := range map[string]error{
		"on a ledger of records":            fit(persons, plain, d),
		"persons stated to be records":      fit(persons, plain, records.WithUnit(d, records.UnitRecord)),
		"by a plan for rows":                fit(rows, users, d),
		"rows by a plan for persons":        fit(persons, users, records.WithUnit(d.Rows(), "user")),
		"a shard on a ledger of records":    release(plain),
		"rows in a sum of persons":          persons.NewPartial().Add(ctx, d.Rows()),
		"persons in a sum of rows":          rows.NewPartial().Add(ctx, d),
		"a stream on a ledger of records":   embed(plain, two(true)),
		"persons of another limit of rows":  fit(personPlan(t, d.Schema().ByPerson(3), 0), users, d),
		"persons stated to be another unit": fit(persons, users, records.WithUnit(d, "household")),
	} {
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("%s: got %v, want *param.Error", name, err)
		}
	}
	for _, l := range []*ledger.Ledger{users, plain} {
		if g := l.Guarantee(); len(g.Entries) > 0 {
			t.Errorf("after the refusals the ledger has entries %v, want none", g.Entries)
		}
	}
	// A person may be in two pieces of a stream unless the pieces state otherwise. The stream is read
	// after the release has been reserved.
	if p, err := new(param.Error), embed(users, two(false)); !errors.As(err, &p) {
		t.Errorf("two pieces of persons: got %v, want *param.Error", err)
	}
	if err := embed(ledger.New(persons.Budget(), ledger.WithUnit(records.UnitUser)),
		two(true)); err != nil {
		t.Error(err)
	}
}
