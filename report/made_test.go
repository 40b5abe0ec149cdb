package report_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/demo"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/fidelity"
	"github.com/seed7ba64551/privgen/synth"
)

// quick returns settings for fast tests.
func quick() report.Settings {
	return report.Settings{Near: 120, Queries: 60, Groups: 20, Bins: 8, Seed: 3,
		Methods: []classify.Method{classify.LogisticRegression{Iterations: 30},
			classify.DecisionTree{Depth: 6}}}
}

// redraw is a model that returns the same records again and again.
type redraw struct{ from *records.Frame }

func (m redraw) Schema() records.Schema { return m.from.Schema() }

func (m redraw) Sampler(d synth.Draw) (synth.Sampler, error) {
	rng := rand.New(rand.NewPCG(d.Seed, 1))
	return synth.Sampler{Schema: m.Schema(), Next: func(n int) (records.Data, error) {
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = rng.Int32N(int32(m.from.Len()))
		}
		return m.from.Take(rows), nil
	}}, nil
}

func (redraw) Encode() (*synth.File, error) { return nil, param.New("redraw", nil, "no file") }

// spent returns the guarantee of a ledger on which something was reserved.
func spent(t testing.TB, r accountant.Relation) ledger.Guarantee {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 2, Delta: 1e-5, Relation: r})
	for purpose, z := range map[string]float64{"column counts": 4, "mean embedding": 6} {
		if _, err := l.Reserve(purpose, accountant.Gaussian{NoiseMultiplier: z}, 1); err != nil {
			t.Fatal(err)
		}
	}
	return l.Guarantee()
}

// table makes a table with every kind of column, some values missing, and hostile names.
func table(t testing.TB, n int, seed uint64) *records.Frame {
	t.Helper()
	s, err := records.NewSchema(
		records.Integer("age", 17, 90).WithMissing(),
		records.Numeric("amount", 0, 1e6).Logarithmic(),
		records.Numeric("twice <b>age</b>", 0, 200),
		records.Categorical(`work "&' <script>alert(1)</script>`, "office & co", "field", "none",
			"a level with a very long name indeed").WithMissing(),
		records.Categorical("many", names(25)...),
		records.Ordinal("size", "small", "middle", "large"),
		records.Flag("member", "no", "yes"),
		records.Label("class", "a", "b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	for range n {
		age := 17 + rng.IntN(74)
		var any0 any = age
		if rng.IntN(10) == 0 {
			any0 = nil
		}
		var work any
		if k := rng.IntN(5); k < 4 {
			work = s.Columns()[3].Levels()[min(k, 3)]
		}
		class := min(max((age-17+rng.IntN(30)-15)/25, 0), 2)
		if err := b.Append(any0, rng.ExpFloat64()*1000, 2*float64(age)+rng.NormFloat64(), work,
			names(25)[min(int(rng.ExpFloat64()*6), 24)], []string{"small", "middle", "large"}[age/31],
			rng.IntN(3) == 0, []string{"a", "b", "c"}[class]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

func names(n int) (list []string) {
	for i := range n {
		list = append(list, string(rune('a'+i)))
	}
	return list
}

// sets and images make records of other kinds.
func sets(t testing.TB, n int, draw uint64) *records.SetTable {
	t.Helper()
	rng := rand.New(rand.NewPCG(draw, 3))
	rows := make([][]uint32, n)
	for i := range rows {
		for item := range uint32(40) {
			if rng.Float64() < 1.5/float64(2+item) {
				rows[i] = append(rows[i], item)
			}
		}
	}
	out, err := records.FromItems(records.Sets(40, 30), rows)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func images(t testing.TB, n int, draw uint64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(draw, 4))
	flat, labels := make([]float32, 0, 64*n), make([]int32, n)
	for i := range n {
		labels[i] = rng.Int32N(3)
		for p := range 64 {
			flat = append(flat, float32(p%8)/8*rng.Float32()*float32(1+labels[i])/3)
		}
	}
	out, err := records.FromFlat(records.Image(8, 8).WithLabels("x", "y", "z"), flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// whole returns the input of a report that has every section for tables.
func whole(t testing.TB) report.Input {
	t.Helper()
	g := spent(t, accountant.AddOrRemoveOne)
	gen := synth.NewGenerator("redraw", redraw{table(t, 500, 3)}, g)
	fake, err := gen.Sample(context.Background(), 600, synth.Seed(9))
	if err != nil {
		t.Fatal(err)
	}
	return report.Input{Generator: gen, Real: table(t, 700, 1), HeldOut: table(t, 400, 2),
		Synthetic: fake, Second: table(t, 450, 5), Fidelity: released(t)}
}

// released returns figures with noise.
func released(t testing.TB) *fidelity.Released {
	t.Helper()
	real, fake := table(t, 700, 1), table(t, 500, 3)
	budget := accountant.Budget{Epsilon: 3, Delta: 1e-5}
	p, err := fidelity.Config{Schema: real.Schema(), Budget: budget,
		Methods: []string{"logistic regression"}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	out, err := fidelity.Release(context.Background(), p, real, records.DeclarePublic(fake),
		ledger.New(budget))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// made returns functions that compute reports of all kinds of records.
var made = sync.OnceValue(func() map[string]func(testing.TB) *report.Report {
	keep := map[string]*report.Report{}
	compute := func(name string, in func(testing.TB) report.Input,
		by func(context.Context, report.Input, report.Settings) (*report.Report, error)) func(
		testing.TB) *report.Report {
		return func(t testing.TB) *report.Report {
			t.Helper()
			if keep[name] == nil {
				r, err := by(context.Background(), in(t), quick())
				if err != nil {
					t.Fatal(err)
				}
				keep[name] = r
			}
			return keep[name]
		}
	}
	guaranteed := func(t testing.TB) *ledger.Guarantee {
		g := spent(t, accountant.ReplaceOne)
		return &g
	}
	return map[string]func(testing.TB) *report.Report{
		"table": compute("table", whole, report.Compute),
		"released": compute("released", func(t testing.TB) report.Input {
			in := whole(t)
			in.Real, in.HeldOut, in.Second = nil, nil, nil
			return in
		}, report.Released),
		"bare": compute("bare", func(t testing.TB) report.Input {
			return report.Input{Real: table(t, 300, 1), Synthetic: table(t, 200, 2)}
		}, report.Compute),
		"sets": compute("sets", func(t testing.TB) report.Input {
			return report.Input{Real: sets(t, 500, 1), HeldOut: sets(t, 300, 2), Synthetic: sets(t, 400, 3),
				Guarantee: guaranteed(t)}
		}, report.Compute),
		"images": compute("images", func(t testing.TB) report.Input {
			return report.Input{Real: images(t, 300, 1), HeldOut: images(t, 200, 2),
				Synthetic: images(t, 250, 3), Guarantee: guaranteed(t)}
		}, report.Compute),
		"wide": compute("wide", func(t testing.TB) report.Input {
			source := demo.TableSource{Records: 200, Numbers: 30, Choices: 10, Levels: 4, Flags: 5, Seed: 1}
			var list [2]*records.Frame
			for i := range list {
				source.Draw = uint64(i)
				f, err := source.Make()
				if err != nil {
					t.Fatal(err)
				}
				list[i] = f
			}
			return report.Input{Real: list[0], Synthetic: list[1], Guarantee: guaranteed(t)}
		}, report.Compute),
	}
})
