package compose_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

func schemaOf(t *testing.T, columns ...records.Column) records.Schema {
	t.Helper()
	return must(records.NewSchema(columns...))(t)
}

// columns has a column of every kind.
func columns() []records.Column {
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	return []records.Column{records.Numeric("amount", 0, 1e6),
		records.Integer("hours", 0, 99), records.Categorical("colour", "red", "green", "blue"),
		records.Numeric("gap", -1, 1).WithMissing(), records.Flag("old", "no", "yes"),
		records.Duration("wait", 0, time.Hour, time.Second),
		records.Datetime("seen", day, day.AddDate(1, 0, 0), time.Second),
		records.Datetime("born", day, day.AddDate(1, 0, 0), time.Hour).WithParts(records.MonthPart),
		records.Ordinal("size", "s", "m", "l"), records.Label("class", "a", "b")}
}

// TestRanks checks which columns are mapped, and that no other column changes.
func TestRankSchema(t *testing.T) {
	s := schemaOf(t, columns()...)
	ranks := must(compose.RankSchema(s))(t)
	mapped := []string{"amount", "hours", "gap", "wait", "seen"}
	for i, c := range ranks.Columns() {
		before := s.Columns()[i]
		if !slices.Contains(mapped, c.Name()) {
			if c.String() != before.String() {
				t.Errorf("column %v became %v", before, c)
			}
			continue
		}
		if lo, hi := c.Bounds(); lo != 0 || hi != 1 || c.HasMissing() != before.HasMissing() {
			t.Errorf("column %v became %v", before, c)
		}
	}
	for name, bad := range map[string]records.Schema{
		"images":     records.Image(4, 4),
		"no numbers": schemaOf(t, records.Flag("old", "no", "yes")),
		"persons":    s.ByPerson(3),
	} {
		var p *param.Error
		if _, err := compose.RankSchema(bad); !errors.As(err, &p) {
			t.Errorf("%s: got %v, want a *param.Error", name, err)
		}
	}
}

// TestTogether checks that the counts and the other system cost at most the budget together, and
// that both have lines on the ledger.
func TestRanksTogether(t *testing.T) {
	for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, epsilon := range []float64{0.1, 1, 10} {
			b := accountant.Budget{Epsilon: epsilon, Delta: 1e-6, Relation: relation}
			p := must(ranksOf(embedding(100)).PlanFor(schemaOf(t, columns()...), b))(t)
			stages := p.Stages()
			own := partsOf(p)[0].Stages()
			if len(stages) != 1+len(own) || stages[0].Purpose != "counts of numbers" {
				t.Fatalf("stages %v, want the counts and %v", stages, own)
			}
			total := must(accountant.Epsilon(synth.Total(stages...), b.Delta, relation))(t)
			if total.Upper > epsilon || total.Upper < 0.98*epsilon {
				t.Errorf("%v: both cost ε = %v", b, total.Upper)
			}
			if stages[0].Epsilon.Upper > 0.3*epsilon {
				t.Errorf("%v: the counts cost ε = %v", b, stages[0].Epsilon.Upper)
			}
		}
	}
}

// TestInterruptedRanksEnd: a run whose calls are all interrupted ends once its part is complete.
// The first call is interrupted at the last step of the part, and the second one at once.
func TestInterruptedRanksEnd(t *testing.T) {
	s := schemaOf(t, records.Integer("hours", 0, 99), records.Flag("old", "no", "yes"))
	data := must(records.FromValues(s, []any{3, "no"}, []any{70, "yes"}, []any{50, "no"}))(t)
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	p, err := poolOf(embedding(3), ranksOf(embedding(3))).PlanFor(s, b)
	if err != nil {
		t.Fatal(err)
	}
	l, keep := ledger.New(b), synth.Checkpoint(filepath.Join(t.TempDir(), "run"))
	var gen *synth.Generator
	for call := 0; gen == nil && call < 2; call++ {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		gen, err = p.FitOn(ctx, l, data, keep, synth.OnProgress(func(at synth.Progress) {
			if call > 0 || at.Stage == "2 ranks: merf: generator" && at.Step == at.Of {
				cancel()
			}
		}))
		if ctx.Err() == nil {
			t.Fatal("the call was not interrupted, so the test proves nothing")
		}
	}
	if err != nil {
		t.Fatalf("the second call: %v, want the result", err)
	}
	whole := must(p.FitOn(t.Context(), l, data, keep))(t)
	got, err1 := gen.Model().Encode()
	want, err2 := whole.Model().Encode()
	if err1 != nil || err2 != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("an interrupted call returns another model (%v, %v)", err1, err2)
	}
}

// TestRefusals lists configurations that must not become plans.
func TestRanksRefusals(t *testing.T) {
	s := schemaOf(t, columns()...)
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	ranks, err := compose.RankSchema(s)
	if err != nil {
		t.Fatal(err)
	}
	good, err := embedding(10).PlanFor(ranks, b)
	if err != nil {
		t.Fatal(err)
	}
	other := b
	other.Relation = accountant.ReplaceOne
	replaced, err := embedding(10).PlanFor(ranks, other)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := embedding(10).PlanFor(s, b)
	if err != nil {
		t.Fatal(err)
	}
	nested, err := ranksOf(embedding(10)).PlanFor(ranks, b)
	if err != nil {
		t.Fatal(err)
	}
	var wide []records.Column
	for i := range 300 {
		wide = append(wide, records.Integer(fmt.Sprint("x", i), 0, 4095))
	}
	of := compose.Fixed(good)
	for name, c := range map[string]compose.Ranks{
		"no plan":            {},
		"share":              {Of: of, Share: 1},
		"cells":              {Of: of, Cells: 1},
		"many cells":         {Of: of, Cells: 4095},
		"negative noise":     {Of: of, NoiseMultiplier: -1},
		"noise not a number": {Of: of, NoiseMultiplier: math.NaN()},
		"huge noise":         {Of: of, NoiseMultiplier: 1e200},
		"another relation":   {Of: compose.Fixed(replaced)},
		"records, not ranks": {Of: compose.Fixed(raw)},
		"itself":             {Of: compose.Fixed(nested)},
	} {
		var p *param.Error
		if _, err := c.PlanFor(s, b); !errors.As(err, &p) {
			t.Errorf("%s: got %v, want a *param.Error", name, err)
		}
	}
	wrong := new(param.Error)
	if _, err := (compose.Ranks{Of: of}).PlanFor(schemaOf(t, wide...), b); !errors.As(err, &wrong) {
		t.Errorf("many counts: got %v, want a *param.Error", err)
	}
	_, err = compose.Ranks{Of: of, NoiseMultiplier: 1}.PlanFor(s, b)
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("two budgets: got %v, want ErrBudgetExceeded", err)
	}
}

// TestColumnsKeepTheirDistribution fits a network that has learnt nothing, at an ε without much
// noise. Each column of numbers must nevertheless have the distribution of the records: a heavy
// tail, a value of half of the records, and missing values.
//
// Samples of 20,000 numbers of one distribution have distribution functions that differ by at most
// .03, except with a probability below 1e-7 for each column. Numbers that are drawn evenly within
// cells add at most .01.
func TestColumnsKeepTheirDistribution(t *testing.T) {
	s := schemaOf(t, records.Numeric("tail", 0, 1e6), records.Integer("hours", 0, 999),
		records.Categorical("colour", "red", "green", "blue"),
		records.Numeric("gap", -1, 1).WithMissing(), records.Numeric("zero", 0, 10))
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 20_000
	real := make([][]float64, 4)
	colours := make([]int32, n)
	for range n {
		hours := 40.0
		if rng.IntN(2) == 0 {
			hours = math.Floor(1000 * rng.Float64())
		}
		real[0] = append(real[0], min(1e5*math.Exp(1.2*rng.NormFloat64()), 1e6))
		real[1] = append(real[1], hours)
		real[2] = append(real[2], min(max(0.3*rng.NormFloat64(), -1), 1))
		real[3] = append(real[3], max(0, rng.ExpFloat64()-1))
	}
	data := must(records.FromColumns(s, records.Values{Numbers: real[0]},
		records.Values{Numbers: real[1]},
		records.Values{Codes: colours, Dictionary: []string{"blue"}},
		records.Values{Numbers: real[2]}, records.Values{Numbers: real[3]}))(t)
	p := must(compose.Ranks{Of: embedding(n), Seed: 3}.PlanFor(s,
		accountant.Budget{Epsilon: 100, Delta: 1e-5}))(t)
	gen := must(p.Fit(t.Context(), data))(t)
	rows := must(gen.Sample(t.Context(), n))(t)
	f := rows.(*records.Frame)
	for j, want := range real {
		var got []float64
		for _, x := range f.Numbers([]int{0, 1, 3, 4}[j]) {
			if !math.IsNaN(x) {
				got = append(got, x)
			}
		}
		if d := apart(got, want); !(d < 0.04) {
			t.Errorf("column %d: distribution functions differ by %.4f", j, d)
		}
	}
}

// apart returns the largest difference between the distribution functions of two lists.
func apart(x, y []float64) (most float64) {
	x, y = slices.Clone(x), slices.Clone(y)
	slices.Sort(x)
	slices.Sort(y)
	for _, v := range slices.Concat(x, y) {
		below := func(list []float64) float64 {
			i, _ := slices.BinarySearch(list, math.Nextafter(v, math.Inf(1)))
			return float64(i) / float64(len(list))
		}
		most = max(most, math.Abs(below(x)-below(y)))
	}
	return most
}
