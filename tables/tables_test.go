package tables_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// tablePlans returns plans of all methods for tables for one schema.
func tablePlans(t testing.TB, s records.Schema, b accountant.Budget) map[string]synth.PassProgram {
	t.Helper()
	common := tables.Common{Schema: s, Budget: b, Bins: 4, Seed: 1, Fine: 10, WithinPart: 0.05}
	aim := must(tables.AIM{Common: common, Rounds: 5, ClassPart: 0.4, Coarse: 2}.Plan())(t)
	mst := must(tables.MST{Common: common}.Plan())(t)
	return map[string]synth.PassProgram{"aim": aim, "mst": mst}
}

func tableSchema(t testing.TB) records.Schema {
	t.Helper()
	s := must(records.NewSchema(records.Numeric("amount", 0, 1000).Logarithmic(),
		records.Integer("age", 17, 90).WithMissing(),
		records.Categorical("work", "private", "self", "none").WithMissing(),
		records.Ordinal("pain", "none", "some", "bad"), records.Flag("f", "no", "yes"),
		records.Label("class", "u", "v", "w")))(t)
	return s
}

// TestNothingButReleasesOfTablesDependsOnARecord replays whole fits on every third pair of
// neighbouring data sets, with a different offset for each plan and relation. Package synthtest
// replays other pairs.
func TestNothingButReleasesOfTablesDependsOnARecord(t *testing.T) {
	t.Parallel()
	s := tableSchema(t)
	for _, r := range relations {
		budget := accountant.Budget{Epsilon: 3, Delta: 1e-5, Relation: r}
		plans := tablePlans(t, s, budget)
		for turn, name := range slices.Sorted(maps.Keys(plans)) {
			p := plans[name]
			visible := func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
				g, err := p.FitOn(ctx, l, d)
				if err != nil {
					return nil, err
				}
				rows, err := g.Sample(ctx, 50, synth.Seed(9))
				if err != nil {
					return nil, err
				}
				var b device.Batch
				rows.Range(0, rows.Len(), &b)
				return []any{b.Dense.Data, b.Labels, g.Guarantee().Epsilon}, nil
			}
			for i, pair := range privacytest.Neighbours(t, s, r, 12, 3) {
				if i%6 != (2*turn+int(r))%6 {
					continue
				}
				t.Run(fmt.Sprintf("%v/%s/%s", r, name, pair.Name), func(t *testing.T) {
					privacytest.Replay[records.Data]{Run: visible, Budget: budget, Data: pair.Data,
						Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
				})
			}
		}
	}
}

// correlated returns rows of four numbers, an integer and a class. Adjacent columns of numbers are
// correlated. The integer is 40 in half of the rows. The last of three classes has one row in a
// hundred.
func correlated(t testing.TB, n int, seed uint64) *records.Frame {
	t.Helper()
	s := must(records.NewSchema(records.Numeric("a", -4, 4), records.Numeric("b", -4, 4),
		records.Numeric("c", -4, 4), records.Numeric("d", -4, 4), records.Integer("hours", 0, 99),
		records.Label("class", "u", "v", "rare")))(t)
	rng := rand.New(rand.NewPCG(seed, 0x636f72))
	rows := make([][]any, n)
	for i := range rows {
		a := rng.NormFloat64()
		b := 0.8*a + 0.6*rng.NormFloat64()
		c := -0.8*b + 0.6*rng.NormFloat64()
		d := 0.8*c + 0.6*rng.NormFloat64()
		hours := 40
		if rng.IntN(2) == 0 {
			hours = rng.IntN(100)
		}
		class := "u"
		switch {
		case rng.IntN(100) == 0:
			class = "rare"
		case d > 0:
			class = "v"
		}
		rows[i] = []any{a, b, c, d, hours, class}
	}
	return must(records.FromValues(s, rows...))(t)
}

func correlation(f *records.Frame, i, j int) float64 {
	x, y := f.Numbers(i), f.Numbers(j)
	var sx, sy, sxx, syy, sxy float64
	for k := range x {
		sx, sy, sxx, syy, sxy = sx+x[k], sy+y[k], sxx+x[k]*x[k], syy+y[k]*y[k], sxy+x[k]*y[k]
	}
	n := float64(len(x))
	return (sxy/n - sx/n*sy/n) / math.Sqrt((sxx/n-sx/n*sx/n)*(syy/n-sy/n*sy/n))
}

// TestTablesWithHardlyAnyNoise checks that, with very little noise, rows are valid and have the
// records' correlations, frequent values and fractions of classes. The remaining noise matters: AIM
// measures tables of 3,900 cells, with five records in each, and noise of half a record. No cell of
// a model is below zero, so the noise adds records to empty cells, and correlations shrink by 0.03.
func TestTablesWithHardlyAnyNoise(t *testing.T) {
	if !*tables.Long {
		t.Skip("see -long")
	}
	data := correlated(t, 20_000, 1)
	budget := accountant.Budget{Epsilon: 100, Delta: 1e-5}
	common := tables.Common{Schema: data.Schema(), Budget: budget, Nominal: 20_000,
		Cells: 1 << 16}
	for name, plan := range map[string]func() (synth.PassProgram, error){
		"aim": tables.AIM{Common: common, Rounds: 5}.Plan,
		"mst": tables.MST{Common: common}.Plan} {
		p := must(plan())(t)
		g := must(p.Fit(privacytest.Seeded(t, t.Context(), 1), data))(t)
		rows := must(g.Sample(t.Context(), 20_000, synth.Seed(1)))(t)
		if err := records.Check(rows); err != nil {
			t.Fatal(err)
		}
		fake, _ := records.AsFrame(rows)
		for _, pair := range [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 2}} {
			want, got := correlation(data, pair[0], pair[1]), correlation(fake, pair[0], pair[1])
			if math.Abs(want-got) > 0.06 {
				t.Errorf("%s: correlation of %v is %.3f, want %.3f", name, pair, got, want)
			}
		}
		if got, want := share(fake.Numbers(4), 40), share(data.Numbers(4), 40); math.Abs(got-
			want) > 0.01 {
			t.Errorf("%s: %.3f of rows have 40 hours, want %.3f", name, got, want)
		}
		for class := range int32(3) {
			if got, want := share(fake.Labels(), class), share(data.Labels(), class); math.Abs(got-
				want) > 0.003 {
				t.Errorf("%s: class %d has a fraction %.4f of the rows, want %.4f", name, class, got, want)
			}
		}
	}
}

func share[T comparable](list []T, value T) float64 {
	n := 0
	for _, v := range list {
		if v == value {
			n++
		}
	}
	return float64(n) / float64(len(list))
}

// TestRareClassesStay checks ten fits at ε = 1. In each fit, a class with one row in a hundred must
// keep between 0.5 and 1.5 times its fraction. The class's noisy count, about 100, has a standard
// deviation of about 12. The bounds are at least four standard deviations away, so the probability
// of a false alarm in the ten fits is below 1e-3; the seeds are fixed.
func TestRareClassesStay(t *testing.T) {
	t.Parallel()
	data := correlated(t, 10_000, 2)
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	want := share(data.Labels(), 2)
	p := must(tables.AIM{Common: tables.Common{Schema: data.Schema(), Budget: budget,
		Nominal: 10_000}, Rounds: 6}.Plan())(t)
	for seed := range uint64(4) {
		g := must(p.Fit(privacytest.Seeded(t, t.Context(), seed), data))(t)
		rows := must(g.Sample(t.Context(), 10_000, synth.Seed(seed)))(t)
		fake, _ := records.AsFrame(rows)
		if got := share(fake.Labels(), 2); got < want/2 || got > 1.5*want {
			t.Errorf("seed %d: the rare class has %.4f of the rows, want %.4f", seed, got, want)
		}
	}
}

// TestTableModelsStayWithinTheirCells checks that a model stays within the plan's limit. A smaller
// limit must give a smaller model.
func TestTableModelsStayWithinTheirCells(t *testing.T) {
	data := correlated(t, 2000, 3)
	budget := accountant.Budget{Epsilon: 50, Delta: 1e-5}
	sizes := map[int]int{}
	for _, cells := range []int{800, 1 << 12} {
		p := must(tables.AIM{Common: tables.Common{Schema: data.Schema(), Budget: budget, Bins: 8,
			Cells: cells}, Rounds: 6}.Plan())(t)
		g := must(p.Fit(t.Context(), data))(t)
		sizes[cells] = tables.ModelCells(g.Model())
		if sizes[cells] > cells {
			t.Errorf("the model has %d cells, want at most %d", sizes[cells], cells)
		}
	}
	if sizes[800] >= sizes[1<<12] {
		t.Errorf("the limit has no effect: %v", sizes)
	}
}

// TestColumnsAreMeasuredWithoutRoom checks that a plan whose columns alone have more than its cells
// spends its measurements on single columns.
func TestColumnsAreMeasuredWithoutRoom(t *testing.T) {
	data := correlated(t, 500, 3)
	p := must(tables.AIM{Common: tables.Common{Schema: data.Schema(), Cells: 1,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}, Rounds: 6}.Plan())(t)
	measured := 0
	g, err := p.Fit(t.Context(), data, synth.OnProgress(func(r synth.Progress) {
		if r.Stage == "table measurements" {
			measured = max(measured, r.Step)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if measured != 48 {
		t.Errorf("%d of 48 measurements were made", measured)
	}
	if n := tables.ModelCells(g.Model()); n > 7*16 {
		t.Errorf("the model of single columns has %d cells", n)
	}
}

// TestTablePassesOverShards checks that FitPasses on sums of shards results in the same generator
// and ledger as FitOn.
func TestTablePassesOverShards(t *testing.T) {
	data := correlated(t, 300, 4)
	for name, p := range tablePlans(t, data.Schema(), accountant.Budget{Epsilon: 2, Delta: 1e-5}) {
		read := func(ctx context.Context, pass synth.Pass) (*mechanism.Partial, error) {
			all, err := p.Partial(pass)
			if err != nil {
				return nil, err
			}
			key := mechanism.NewKey()
			for lo := 0; lo < 300; lo += 70 {
				shard, err := p.Partial(pass)
				if err != nil {
					return nil, err
				}
				if err := shard.Add(ctx, data.Slice(lo, min(lo+70, 300))); err != nil {
					return nil, err
				}
				b, err := shard.Seal(key, mechanism.Shard{Name: fmt.Sprint(lo)})
				if err != nil {
					return nil, err
				}
				if err := all.Open(key, b, b); err != nil {
					return nil, err
				}
			}
			return all, nil
		}
		one, two := ledger.New(p.Budget()), ledger.New(p.Budget())
		want := must(p.FitOn(privacytest.Seeded(t, t.Context(), 3), one, data))(t)
		got := must(p.FitPasses(privacytest.Seeded(t, t.Context(), 3), two, read))(t)
		if !reflect.DeepEqual(tableRows(t, want), tableRows(t, got)) {
			t.Errorf("%s: FitPasses and FitOn result in different records", name)
		}
		if !reflect.DeepEqual(one.Entries(), two.Entries()) {
			t.Errorf("%s: the ledger has %v, want %v", name, two.Entries(), one.Entries())
		}
		var wrong *param.Error
		for _, pass := range []synth.Pass{{}, {Purpose: "table choices"},
			{Purpose: "table choices", State: make([]byte, 7)}, {Purpose: "counts within cells"},
			{Purpose: "counts within cells", State: make([]byte, 11)},
			{Purpose: "counts within cells", State: []byte{1, 0, 0, 0}},
			{Purpose: "column counts", State: []byte{1}},
			{Purpose: "table measurements"}} {
			if _, err := p.Partial(pass); !errors.As(err, &wrong) {
				t.Errorf("%s: a pass of another plan, %+v: got error %v, want a *param.Error", name, pass, err)
			}
		}
	}
}

func tableRows(t *testing.T, g *synth.Generator) []float32 {
	t.Helper()
	data := must(g.Sample(t.Context(), 200, synth.Seed(4)))(t)
	var b device.Batch
	data.Range(0, data.Len(), &b)
	return b.Dense.Data
}

func TestTableMistakesAreParameterErrors(t *testing.T) {
	var wrong *param.Error
	good := tables.Common{Schema: tableSchema(t),
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}
	fine, columns := good, good
	within := good
	fine.Fine, columns.ColumnPart, within.WithinPart = 127, math.NaN(), math.NaN()
	bad := tables.Common{Schema: records.Sets(4, 2), Bins: 1, Cells: -1, Nominal: -1}
	for name, err := range map[string]error{
		"aim":        second(tables.AIM{Common: bad, Rounds: -1, Order: 4, Coarse: 17}.Plan()),
		"part":       second(tables.AIM{Common: good, ClassPart: 0.95}.Plan()),
		"not a part": second(tables.AIM{Common: good, ClassPart: math.NaN()}.Plan()),
		"fine":       second(tables.AIM{Common: fine}.Plan()),
		"columns":    second(tables.MST{Common: columns}.Plan()),
		"within":     second(tables.MST{Common: within}.Plan()),
		"mst":        second(tables.MST{Common: bad}.Plan()),
		"no schema":  second(tables.AIM{}.Plan()),
	} {
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPredictedTimeOfMST: MST compares all candidates once and fits its tree once, unlike AIM. A
// plan of 300 columns predicted half a minute for a fit of half a second.
func TestPredictedTimeOfMST(t *testing.T) {
	var columns []records.Column
	for j := range 300 {
		columns = append(columns, records.Numeric(fmt.Sprint("v", j), 0, 1))
	}
	s := must(records.NewSchema(columns...))(t)
	p := must(tables.MST{Common: tables.Common{Schema: s, Nominal: 500,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}}.Plan())(t)
	if !strings.Contains(p.String(), "predicted: less than a second") {
		t.Errorf("got the plan\n%v", p)
	}
}

func second[T any](_ T, err error) error { return err }

var relations = []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}
