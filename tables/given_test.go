package tables_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// linked returns rows with dependent columns of every kind.
func linked(t testing.TB, n int) *records.Frame {
	t.Helper()
	s := must(records.NewSchema(records.Numeric("amount", 0, 1000),
		records.Integer("age", 17, 90).WithMissing(), records.Integer("code", 0, 9999),
		records.Categorical("work", "private", "self", "none").WithMissing(),
		records.Ordinal("pain", "none", "some", "bad"), records.Flag("f", "no", "yes"),
		records.Label("class", "u", "v", "w")))(t)
	rng := rand.New(rand.NewPCG(5, 5))
	rows := make([][]any, n)
	for i := range rows {
		amount := 1000 * rng.Float64() * rng.Float64()
		var age, work any
		if rng.IntN(9) > 0 {
			age = 17 + int(amount/20) + rng.IntN(23)
		}
		if level := rng.IntN(4); level < 3 {
			work = []string{"private", "self", "none"}[level*int(amount/400)/4]
		}
		pain := []string{"none", "some", "bad"}[min(int(amount/300)+rng.IntN(2), 2)]
		f := rng.IntN(3) == 0 || pain == "bad"
		class := []string{"u", "v", "w"}[(min(int(amount/500), 1)+rng.IntN(2))%3]
		rows[i] = []any{amount, age, int(amount) * rng.IntN(10), work, pain, f, class}
	}
	return must(records.FromValues(s, rows...))(t)
}

// bits evaluates statements about a row: statements about single columns, and two about pairs of
// columns.
func bits(f *records.Frame, i int) []bool {
	amount, code := f.Number(i, 0), f.Number(i, 2)
	age, there := f.Whole(i, 1)
	yes := f.Value(i, 5) == "yes"
	return []bool{amount < 100, amount < 350, there && age < 30, !there, code < 700, code >= 5000,
		f.Value(i, 3) == "private", f.Value(i, 3) == "", f.Value(i, 4) == "some", yes,
		f.Value(i, 6) == "v", yes && amount < 350, f.Value(i, 6) == "u" && f.Value(i, 4) == "none"}
}

// TestConditionsAreMetExactly checks that rows drawn under conditions have the distribution of the
// unconditionally drawn rows that meet the conditions. Rows may be rejected only because a
// coordinate was rounded, and the stated probability must be the fraction of rows that meet the
// conditions. The bounds are six standard deviations: over all seeds of the noise and the rows, the
// 560 comparisons give one false alarm in 10⁶. The seeds are fixed.
func TestConditionsAreMetExactly(t *testing.T) {
	t.Parallel()
	data := linked(t, 4000)
	budget := accountant.Budget{Epsilon: 50, Delta: 1e-5}
	cases := [][]records.Constraint{
		{records.Only("class", "w")},
		{records.Within("amount", 123.4, 700)},
		{records.Only("work", "self", nil)},
		{records.Only("age", nil)},
		{records.Within("age", 30, 39), records.Only("f", "yes")},
		{records.Within("code", 100, 2500), records.Within("pain", "some", nil)},
		{records.Within("amount", 50, 500), records.Only("pain", "some", "bad"),
			records.Within("age", 20, 60).OrMissing(), records.Only("class", "u", "v")},
		{records.Combinations([]string{"class", "work"}, []string{"u", "self"}, []string{"v", ""},
			[]string{"w", "none"}, []string{"u", "self"}, []string{"v", "private"})},
		{records.Combinations([]string{"f", "pain", "work"}, []string{"yes", "bad", "private"},
			[]string{"no", "none", "self"}, []string{"no", "some", "none"}, []string{"yes", "some", ""}),
			records.Within("amount", 100, 900), records.Only("work", "private", "self", nil)},
		{records.Combinations([]string{"f", "class"}, []string{"yes", "u"}, []string{"no", "v"}),
			records.Combinations([]string{"class", "pain"}, []string{"u", "bad"}, []string{"v", "none"},
				[]string{"v", "some"})},
	}
	common := tables.Common{Schema: data.Schema(), Budget: budget, Bins: 4}
	aim, err := tables.AIM{Common: common, Rounds: 2, Order: 2}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	mst, err := tables.MST{Common: common}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	common.WithinPart = 0.05
	within, err := tables.AIM{Common: common, Rounds: 2, Order: 2}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for name, plan := range map[string]synth.PassProgram{"aim": aim, "mst": mst, "within": within} {
		g, err := plan.Fit(privacytest.Seeded(t, t.Context(), 3), data)
		if err != nil {
			t.Fatal(err)
		}
		const pool = 20_000
		drawn, err := g.Sample(t.Context(), pool, synth.Seed(1))
		if err != nil {
			t.Fatal(err)
		}
		all, _ := records.AsFrame(drawn)
		for k, list := range cases {
			t.Run(fmt.Sprintf("%s/%d", name, k), func(t *testing.T) {
				e, err := records.NewEnforcer(all.Schema(), list...)
				if err != nil {
					t.Fatal(err)
				}
				met, err := e.Keep(all, pool)
				if err != nil {
					t.Fatal(err)
				}
				want, _ := records.AsFrame(met)
				var done synth.Accepted
				const n = 3000
				d, err := g.Sample(t.Context(), n, synth.Seed(2), synth.Given(list...),
					synth.OnAccepted(func(a synth.Accepted) { done = a }))
				if err != nil {
					t.Fatal(err)
				}
				got, _ := records.AsFrame(d)
				if got.Len() != n || len(done.Exact) != len(list) || done.Rate() < 0.9999 {
					t.Errorf("got %d rows, accepted %.5f of those tried, met exactly: %q", got.Len(), done.Rate(),
						done.Exact)
				}
				rate := float64(want.Len()) / pool
				if far := math.Abs(done.Probability - rate); far > 6*math.Sqrt(rate*(1-rate)/pool)+1e-9 {
					t.Errorf("stated probability %v, but a fraction %v of rows meets the conditions",
						done.Probability, rate)
				}
				if want.Len() < 250 {
					t.Fatalf("only %d rows to compare with, want 250", want.Len())
				}
				a, b := shares(want), shares(got)
				for j := range a {
					p := (a[j] + b[j]) / 2
					far := 6 * math.Sqrt(p*(1-p)*(1/float64(want.Len())+1/float64(n)))
					if math.Abs(a[j]-b[j]) > far {
						t.Errorf("statement %d holds for %.4f of the rows, want %.4f ± %.4f", j, b[j], a[j], far)
					}
				}
			})
		}
		var rejected *synth.Rejected
		_, err = g.Sample(t.Context(), 1, synth.Given(records.Only("f", "yes"),
			records.Within("amount", 100, 110), records.Within("amount", 200, 210)))
		if !errors.As(err, &rejected) || rejected.Tried != 0 {
			t.Errorf("conditions that exclude each other: got error %v, want *Rejected without tries", err)
		}
	}
}

// TestProbabilityIsThatWithinTheClass checks the stated probability: it must be the fraction of the
// rows of the class that meet the conditions. No row of another class may be drawn. The bound is
// six standard deviations plus ten rows, which allows for probabilities near 0. The six comparisons
// give a false alarm in fewer than one of 10⁷ runs.
func TestProbabilityIsThatWithinTheClass(t *testing.T) {
	data := linked(t, 4000)
	plan, err := tables.MST{Common: tables.Common{Schema: data.Schema(), Bins: 4,
		Budget: accountant.Budget{Epsilon: 50, Delta: 1e-5}}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	g, err := plan.Fit(privacytest.Seeded(t, t.Context(), 4), data)
	if err != nil {
		t.Fatal(err)
	}
	conditions := [][]records.Constraint{
		{records.Within("amount", 0, 300)},
		{records.Combinations([]string{"class", "f"}, []string{"u", "yes"}, []string{"v", "no"},
			[]string{"w", "no"})},
	}
	// Another column may determine the class, so the model cannot be conditioned on both.
	unknown := []records.Constraint{records.Within("amount", 0, 300),
		records.Determines([]string{"work", "class"})}
	const n = 10_000
	for class, name := range data.Schema().ClassNames() {
		drawn, err := g.Sample(t.Context(), n, synth.Seed(3), synth.OfClass(class))
		if err != nil {
			t.Fatal(err)
		}
		all, _ := records.AsFrame(drawn)
		var stated synth.Accepted
		_, err = g.Sample(t.Context(), 10, synth.Seed(4), synth.OfClass(class),
			synth.Given(unknown...), synth.OnAccepted(func(a synth.Accepted) { stated = a }))
		if err != nil || stated.Probability != 0 {
			t.Errorf("class %q: stated probability %v, want 0 for unknown; error %v", name,
				stated.Probability, err)
		}
		for k, list := range conditions {
			var done synth.Accepted
			d, err := g.Sample(t.Context(), 100, synth.Seed(4), synth.OfClass(class),
				synth.Given(list...), synth.OnAccepted(func(a synth.Accepted) { done = a }))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := records.AsFrame(d)
			for i := range got.Len() {
				if got.Value(i, 6) != name {
					t.Fatalf("a row has class %q, want %q", got.Value(i, 6), name)
				}
			}
			e, err := records.NewEnforcer(all.Schema(), list...)
			if err != nil {
				t.Fatal(err)
			}
			met, err := e.Keep(all, n)
			if err != nil {
				t.Fatal(err)
			}
			rate := float64(met.Len()) / n
			p := min(done.Probability, 1)
			if far := math.Abs(p - rate); done.Probability != p || far > 6*math.Sqrt(p*(1-p)/n)+10.0/n {
				t.Errorf("class %q, condition %d: stated probability %v, but a fraction %v of rows meets it",
					name, k,
					done.Probability, rate)
			}
		}
	}
	var rejected *synth.Rejected
	_, err = g.Sample(t.Context(), 1, synth.OfClass(0), synth.Given(records.Only("class", "v")))
	if !errors.As(err, &rejected) || rejected.Tried != 0 {
		t.Errorf("two classes at once: got error %v, want *Rejected without tries", err)
	}
}

// shares returns the fraction of rows for which each statement holds.
func shares(f *records.Frame) []float64 {
	var out []float64
	for i := range f.Len() {
		list := bits(f, i)
		if out == nil {
			out = make([]float64, len(list))
		}
		for j, b := range list {
			if b {
				out[j]++
			}
		}
	}
	for j := range out {
		out[j] /= float64(f.Len()) // exactly 1 for a statement that holds for all rows
	}
	return out
}
