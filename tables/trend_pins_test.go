package tables

import (
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestPinsOfTrends holds tables with a number to be predicted to the bits that they had, and rows
// of which some columns are given.
func TestPinsOfTrends(t *testing.T) {
	t.Parallel()
	data := targetRows(t, 400, 1)
	for name, c := range map[string]AIM{
		"few":   {Rounds: 5, Common: Common{Bins: 8}},
		"many":  {Rounds: 12, Common: Common{Bins: 4, Fine: 10, Nominal: 40_000}},
		"part":  {Rounds: 4, trend: 0.2, Common: Common{Bins: 6, WithinPart: 0.05}},
		"none":  {Rounds: 4, trend: noTrend},
		"pairs": {Rounds: 4, Order: 2, Coarse: 2, Common: Common{Bins: 8, Cells: 900}},
	} {
		for _, b := range []accountant.Budget{{Epsilon: 1, Delta: 1e-5},
			{Epsilon: 200, Delta: 1e-5}, {Epsilon: 20, Delta: 1e-5, Relation: accountant.ReplaceOne}} {
			t.Run(fmt.Sprint(name, " ", b.Epsilon), func(t *testing.T) {
				c.Schema, c.Budget = data.Schema(), b
				p := must(c.Plan())(t)
				g := must(p.Fit(privacytest.Seeded(t, t.Context(), 7), data))(t)
				pins.Run(t, p, g)
				t.Run("given", func(t *testing.T) {
					at := func(list ...records.Constraint) []byte { return pins.Rows(t, g, synth.Given(list...)) }
					pins.Check(t, map[string][]byte{"low": at(records.Within("y", 0, 45)),
						"flag": at(records.Only("f", "yes"), records.Within("h", 12, 23)),
						"both": at(records.Within("y", 40, 100), records.Only("c", "q"))})
				})
			})
		}
	}
}

// TestPinsOfWideTrends holds trends to their bits with columns of many levels, which are in no
// table of two columns.
func TestPinsOfWideTrends(t *testing.T) {
	var levels []string
	for i := range 60 {
		levels = append(levels, fmt.Sprint("l", i))
	}
	b := must(records.NewFrameBuilder(must(records.NewSchema(records.Numeric("a", 0, 1),
		records.Categorical("wide", levels...), records.Flag("f", "no", "yes"),
		records.Target("y", 0, 100)))(t)))(t)
	for i := range 300 {
		if err := b.Append(float64(i*i%89)/89, levels[i*i%60], i%3 == 0,
			float64(i*i%89)/2+float64(i%3*20)); err != nil {
			t.Fatal(err)
		}
	}
	data := b.Frame()
	for _, epsilon := range []float64{3, 300} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			p := must(AIM{Rounds: 3, Common: Common{Schema: data.Schema(), Bins: 6,
				Budget: accountant.Budget{Epsilon: epsilon, Delta: 1e-5}}}.Plan())(t)
			g := must(p.Fit(privacytest.Seeded(t, t.Context(), 7), data))(t)
			pins.Run(t, p, g)
			last := must(records.NewSchema(data.Schema().Columns()[2:]...))(t)
			if _, err := g.Model().(*model).After(last, 1); err == nil {
				t.Error("a trend's last columns are drawn given the first ones")
			}
		})
	}
}

// TestPinsOfFollowing holds rows to their bits that are drawn given their first columns.
func TestPinsOfFollowing(t *testing.T) {
	first := []records.Column{records.Numeric("a", 0, 1), records.Flag("f", "no", "yes")}
	last := []records.Column{records.Categorical("c", "p", "q", "r"), records.Integer("n", 0, 50)}
	b := must(records.NewFrameBuilder(must(records.NewSchema(append(first, last...)...))(t)))(t)
	for i := range 200 {
		if err := b.Append(float64(i*i%97)/97, i%3 == 0, string("pqr"[i*i%97/40]), i*i%97/2); err != nil {
			t.Fatal(err)
		}
	}
	known := must(records.NewFrameBuilder(must(records.NewSchema(first...))(t)))(t)
	for i := range 30 {
		if err := known.Append(float64(i)/30, i%2 == 0); err != nil {
			t.Fatal(err)
		}
	}
	data, some := b.Frame(), known.Frame()
	for _, epsilon := range []float64{1, 100} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			c := AIM{Rounds: 6, Common: Common{Bins: 5, WithinPart: 0.05, Fine: 20}}
			p := must(c.After(2).PlanFor(data.Schema(), accountant.Budget{Epsilon: epsilon,
				Delta: 1e-5}))(t)
			g := must(p.Fit(privacytest.Seeded(t, t.Context(), 7), data))(t)
			pins.Run(t, p, g)
			draw := must(g.Model().(*model).After(must(records.NewSchema(last...))(t), 1))(t)
			for _, other := range []records.Schema{records.Binary(2), data.Schema(),
				must(records.NewSchema(first...))(t)} {
				if _, err := g.Model().(*model).After(other, 1); err == nil {
					t.Errorf("rows of %v are drawn", other)
				}
			}
			var z records.Nonzeros
			z.Range(some, 0, some.Len())
			drawn := must(draw(&z, 3))(t)
			t.Run("drawn", func(t *testing.T) {
				var rows []byte
				for i := range drawn.Len() {
					rows = fmt.Append(rows, drawn.Value(i, 0), drawn.Value(i, 1))
				}
				pins.Check(t, map[string][]byte{"rows": rows})
			})
			for range completeRows + some.Len() {
				if err := known.Append(0.5, true); err != nil {
					t.Fatal(err)
				}
			}
			equal := known.Frame()
			z.Reset()
			z.Range(equal, 0, equal.Len())
			same := 0
			for drawn, i := must(draw(&z, 3))(t), 0; i < some.Len(); i++ {
				if drawn.Value(i, 0)+drawn.Value(i, 1) == drawn.Value(completeRows+i, 0)+
					drawn.Value(completeRows+i, 1) {
					same++
				}
			}
			if same == some.Len() {
				t.Error("two pieces of rows have the same random numbers")
			}
		})
	}
}
